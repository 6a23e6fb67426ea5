/**
 * The paths that are known before there is a runtime: those of a Worker's gate, and of one space.
 *
 * @module
 */

/** The liveness and the readiness probe. */
export const LIVE = "/livez"
export const READY = "/readyz"

/** The list of spaces, and the path of one space. */
export const SPACES = "/v1/spaces"
export const SPACE = `${SPACES}/:space` as const

/** The report of a worker on its rendezvous. */
export const REPORT = `${SPACE}/rv/:key/report` as const

/**
 * An expression that matches the paths of an endpoint, whose path is a pattern such as {@link REPORT}.
 *
 * @category getters
 * @since 0.2.0
 */
export const expression = (pattern: string): RegExp => new RegExp(`^${pattern.replaceAll(/:\w+/g, "[^/]+").replace("*", ".+")}$`)
