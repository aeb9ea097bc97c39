"""When scans run: timers of systemd, lines of cron, or a scheduler in the foreground. Knows no runs."""
