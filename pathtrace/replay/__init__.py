"""The engine: executes flows against places (as ``ports`` shapes) and records every operation.

``operations`` does one thing at a place, ``stream`` runs a flow as stages joined by bounded ``queues``,
``asking`` as people who ask; ``executing`` times one execution, ``repeats`` puts them in order.
"""
