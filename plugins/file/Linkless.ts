/**
 * File systems without hard links, and those that refuse them.
 *
 * @module
 */

const codes: ReadonlySet<unknown> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV", "EMLINK"])

/** Whether an error of a link tells that there is none to be had. */
export const isLinkless = (error: unknown): boolean => codes.has((error as { readonly code?: unknown }).code)
