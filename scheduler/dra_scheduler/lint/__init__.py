"""What an API server accepts, or drops in silence, and what will not work all the same: rules over manifests."""
