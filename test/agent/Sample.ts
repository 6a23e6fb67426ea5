/**
 * The control file of the seed, as text.
 *
 * @module
 */
export const sample = `---
version: 1
last_wake: 2024-01-15T10:30:00Z
next_wake: 2024-01-15T10:35:00Z
status: idle
---

# Heartbeat

## Pending Actions

### [HIGH] Check API health
- **id**: action-001
- **type**: http_check
- **target**: https://api.example.com/health
- **schedule**: every:5m
- **status**: pending

### [MEDIUM] Sync database backup
- **id**: action-002
- **type**: shell
- **command**: ./scripts/backup.sh
- **schedule**: daily:02:00
- **status**: pending

## Completed Today

- [x] action-000: System startup check (10:00:00)

## Notes

Agent initialized successfully.
`

/** A control file with some blocks as its pending actions. */
export const control = (...blocks: ReadonlyArray<string>): string =>
  `---\nversion: 1\nstatus: idle\n---\n\n# Heartbeat\n\n## Pending Actions\n\n${blocks.join("\n")}\n## Notes\n\nKept.\n`
