"""What a stored run would take after a change: its operations played again, altered."""
