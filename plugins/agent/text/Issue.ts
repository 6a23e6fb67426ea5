/**
 * Issues: errors and warnings of a control file, with their places.
 *
 * @module
 */
import type { Line } from "./Line.ts"
import * as Lines from "./Line.ts"

/** The stable codes of issues. */
export type IssueCode =
  | "agent/too-large"
  | "agent/not-text"
  | "agent/frontmatter-missing"
  | "agent/frontmatter-unclosed"
  | "agent/frontmatter-invalid"
  | "agent/version-unknown"
  | "agent/section-missing"
  | "agent/unclosed"
  | "agent/heading-ignored"
  | "agent/action-invalid"
  | "agent/field-missing"
  | "agent/field-invalid"
  | "agent/field-repeated"
  | "agent/field-unknown"
  | "agent/line-unread"
  | "agent/id-repeated"
  | "agent/priority-unknown"
  | "agent/status-unknown"
  | "agent/reference-unknown"
  | "agent/reference-broken"
  | "agent/dependency-cycle"
  | "agent/condition-doubtful"
  | "agent/schedule-loop"
  | "agent/channel-absent"

/**
 * An error or a warning.
 *
 * An error without a block concerns the whole file, so no action of the file may run. An error with a block concerns
 * that action alone. `line` and `column` count from 1; `column` counts UTF-16 code units.
 */
export interface Issue {
  readonly code: IssueCode
  readonly severity: "error" | "warning"
  readonly line: number
  readonly column: number
  /** The event, its value and its reason. */
  readonly message: string
  /** The remedy, such as the corrected line. */
  readonly suggestion: string
  /** The index of the action block that the issue concerns. */
  readonly block: number | undefined
}

/** An issue before its offset has become a line and a column. Its severity is "error" by default. */
export interface Finding {
  readonly code: IssueCode
  readonly severity?: "error" | "warning"
  readonly offset: number
  readonly message: string
  readonly suggestion: string
  readonly block?: number
}

/** Resolves the offset of a finding to a line and a column. */
export const at = (lines: ReadonlyArray<Line>, { block, code, message, offset, severity = "error", suggestion }: Finding): Issue => ({
  code,
  severity,
  ...Lines.positionOf(lines, offset),
  message,
  suggestion,
  block
})

/**
 * Renders an issue as one line: `12:5 error agent/field-invalid: message; suggestion`.
 */
export const render = ({ code, column, line, message, severity, suggestion }: Issue): string =>
  `${line}:${column} ${severity} ${code}: ${message}; ${suggestion}`
