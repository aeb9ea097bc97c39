from pathtrace.model.schedule import SYSTEM, USER, Job
from pathtrace.scheduling import metadata
from pathtrace.scheduling.times import Times
from pathtrace.scheduling.units import TimerSays, read_timer, units

TIMES = Times(86_400, 3, 17)
JOB = Job(
    "pathtrace-scan-lab-0",
    "/home/me/lab.yaml",
    "/home/me/runs",
    "/home/me",
    "/venv/bin/python",
    900,
    "/usr/bin:/bin",
    ("--quiet-below", "20%"),
    "/home/me/my variables",
)

SERVICE = """\
# Written by 'pathtrace schedule add'; 'pathtrace schedule remove' takes it away.
[Unit]
Description=pathtrace scan (pathtrace-scan-lab-0)

[Service]
Type=oneshot
ExecStart=:/venv/bin/python -P -m pathtrace scan /home/me/lab.yaml --store /home/me/runs --quiet-below 20%%
WorkingDirectory=/home/me
Environment=PATH=/usr/bin:/bin
EnvironmentFile=/home/me/my variables
KillMode=mixed
TimeoutStopSec=2min
SuccessExitStatus=143
UMask=0077
LimitCORE=0
OOMScoreAdjust=500
"""


def test_the_service_of_a_user_is_this() -> None:
    assert units(JOB, TIMES, USER).service == SERVICE


def test_the_service_of_the_host_waits_for_the_network_and_gives_up_what_no_scan_needs() -> None:
    added = [
        line for line in units(JOB, TIMES, SYSTEM).service.splitlines() if line not in SERVICE.splitlines()
    ]
    assert added == [
        "Wants=network-online.target",
        "After=network-online.target",
        "User=root",
        "CapabilityBoundingSet=~CAP_SYS_BOOT CAP_SYS_MODULE CAP_SYS_TIME CAP_MAC_ADMIN CAP_MAC_OVERRIDE",
    ]


def test_the_timer_catches_up_and_is_read_back() -> None:
    text = units(JOB, TIMES, USER).timer
    assert "[Timer]\nOnCalendar=*-*-* 03:17:00\nRandomizedDelaySec=600\nPersistent=true\n" in text
    assert read_timer(text) == TimerSays("*-*-* 03:17:00", metadata.read(metadata.written(JOB, TIMES)))


def test_a_timer_of_others_is_none_of_ours_and_a_spoiled_one_tells_what_is_left() -> None:
    assert read_timer("[Timer]\nOnCalendar=daily\n") is None
    assert read_timer("[Timer]\nOnCalendar=daily\n[X-Pathtrace]\n") == TimerSays("daily", None)
