"""A share of one core for a server of the lab and for all that it starts.

``with cpu_quota(samba.pid, cores=0.3) as quota:``; ``quota.throttled_s()`` tells how long the kernel
held it back. Also for a client, by its process number. Needs version 1 control groups.
"""

from __future__ import annotations

from lab_cpu_quota import Quota, cpu_quota, why_not

__all__ = ["Quota", "cpu_quota", "why_not"]
