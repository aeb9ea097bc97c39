"""What limits a hop, and on what evidence: one file for each kind of stage and of resource."""
