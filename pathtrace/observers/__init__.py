"""What else can be seen while a replay runs: counters of this host, its devices and its processes.

Each file holds one observer (``ports.Observer``). Readings are cumulative counters unless a file
says otherwise; what cannot be seen gives no reading, never an error and never a zero.
"""
