"""The engine: executes flows against places (as ``ports`` shapes) and records every operation.

``stream`` runs a flow as stages joined by bounded queues, ``asking`` runs it as people who ask,
``repeats`` puts executions in order, ``metering`` calls the observers meanwhile.
"""
