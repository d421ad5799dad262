"""PodGroups (KEP-4671): pods that are decided together, with devices allocated jointly, and bound all or none."""
