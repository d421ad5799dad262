"""What the server does for each verb. Every function runs to its end in one step of the event loop: a transaction."""
