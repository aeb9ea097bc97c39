"""Schedules -> the ``pathtrace.schedule/1`` document."""

from __future__ import annotations

from pathtrace.model.schedule import Collision, Scheduled, ScheduleReport

FORMAT = "pathtrace.schedule/1"


def schedule_document(report: ScheduleReport) -> dict[str, object]:
    return {
        "format": FORMAT,
        "action": report.action,
        "dry_run": report.dry_run,
        "schedules": [_schedule(each) for each in report.schedules],
        "written": [{"path": each.path, "text": each.text} for each in report.written],
        "to_type": list(report.to_type),
        "caveats": list(report.caveats),
    }


def _schedule(each: Scheduled) -> dict[str, object]:
    return {
        "name": each.name,
        "kind": each.kind,
        "scope": each.scope,
        "scenario": each.scenario,
        "when": each.when,
        "said": each.said,
        "delay_s": each.delay_s,
        "store": each.store,
        "folder": each.folder,
        "env_file": each.env_file,
        "options": list(each.options),
        "files": list(each.files),
        "active": each.active,
        "next": [moment.isoformat() for moment in each.next],
        "collisions": [_collision(one) for one in each.collisions],
        "free": each.free,
    }


def _collision(one: Collision) -> dict[str, object]:
    return {
        "job": one.job,
        "source": one.source,
        "known": one.known,
        "starts": one.starts.isoformat(),
        "scan_starts": one.scan_starts.isoformat(),
        "times": one.times,
    }
