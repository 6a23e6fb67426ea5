/**
 * Kinds of refusals, and the kind of each stable code.
 *
 * HTTP answers a kind with a status, and the command line ends with an exit code of its own.
 *
 * @module
 */

/** The codes of each kind. */
const codes = {
  /** The request, or a part of it, is malformed or has no meaning. */
  invalid: [
    "address/invalid", "body/key", "body/malformed", "body/number", "body/too-deep", "cell/condition", "cell/content",
    "access/invalid", "flow/invalid", "io/invalid",
    "io/opcode-absent", "ops/invalid", "query/invalid", "rv/invalid", "rv/no-spec", "signal/id-malformed", "signal/id-unequal",
    "signal/invalid", "space/name", "value/invalid"
  ],
  /** The id names several events, which the answer lists. */
  ambiguous: ["id/ambiguous"],
  /** The caller did not tell who it is. */
  unidentified: ["auth/expired", "auth/jwt", "auth/missing", "auth/revoked", "webhook/signature", "webhook/timestamp"],
  /** The caller may not do that. */
  denied: [
    "access/clearance", "access/origin", "access/prefix", "access/space", "access/verb", "cell/refused", "host/refused",
    "label/withheld", "rv/token"
  ],
  /** The named space, cell or record does not exist. */
  absent: [
    "access/absent", "beat/absent", "blob/absent", "cell/absent", "dead/absent", "flow/absent", "flow/unknown", "io/channel-absent",
    "io/request-absent", "ops/absent", "receipt/absent", "route/absent", "run/absent", "rv/absent", "signal/no-match", "slice/absent",
    "space/unknown"
  ],
  /** The path takes other methods. */
  method: ["route/method"],
  /** It is over, or in a state in which that cannot be done. */
  closed: [
    "beat/aborted", "control/refused", "flow/exists", "flow/state", "io/finished", "io/unheard", "link/loop", "ops/closed", "ops/held",
    "ops/unheard", "registry/cycle", "run/state", "rv/finished", "export/no-range", "export/over", "export/outrun",
    "export/unchanged",
    "rv/ledger-missing", "rv/not-quarantined", "rv/untold", "signal/discarded",
    "space/exists", "space/held", "store/pinned", "store/unfinished"
  ],
  /** The body is larger than the limit. */
  large: ["body/too-large", "content/large"],
  /** The body has a media type that is not taken. */
  media: ["body/media-type"],
  /** The content has no such bytes. */
  range: ["blob/range"],
  /** The value does not fit the type of its cell or signal, or a frame is not whole. */
  unfit: [
    "cell/type", "frame/bounds", "frame/changed", "frame/magic", "frame/order", "frame/signature", "frame/unknown", "frame/unsealed",
    "webhook/body"
  ],
  /** All handlings of the event are over, and one was given up. Its own code stands in place of this one, if it has one. */
  dead: ["signal/dead"],
  /** The id belongs to another request. */
  reused: ["signal/id-reused"],
  /** The value is not the one that a conditional request expects. */
  changed: ["cell/changed"],
  /** A lock keeps the cell from changes. */
  locked: ["cell/locked"],
  /** A limit is reached, for a while. */
  full: [
    "access/full", "access/rate", "archive/full", "flow/full", "history/busy", "inbox/full", "ops/full", "reactor/full", "rv/full",
    "watch/full", "watch/slow"
  ],
  /** The runtime is without a part that the stored data needs. */
  unbuilt: ["store/needs-ledger"],
  /** The host cannot do it now. */
  unavailable: [
    "access/unavailable", "runtime/closed", "space/stopped", "space/importing", "store/busy", "store/conflict", "store/locked",
    "store/stale",
    "store/unavailable"
  ],
  /** The stored data cannot be used until it is mended. */
  damaged: ["journal/version", "store/damaged", "store/version"],
  /** The value is not settled yet. */
  held: ["cell/held"],
  /** The place of the data has no room left. */
  exhausted: ["store/full"]
} as const satisfies Readonly<Record<string, ReadonlyArray<string>>>

/** A kind of refusal. */
export type Kind = keyof typeof codes

/** The stable code of a refusal. */
export type Code = (typeof codes)[Kind][number]

/** The kind of each code. */
export const kinds: Readonly<Record<string, Kind>> = Object.fromEntries(
  (Object.keys(codes) as ReadonlyArray<Kind>).flatMap((kind) => codes[kind].map((code) => [code, kind]))
)

/** The HTTP status of each kind of refusal, with its name. */
export const statuses: Readonly<Record<Kind, readonly [status: number, title: string]>> = {
  ambiguous: [300, "Multiple Choices"],
  invalid: [400, "Bad Request"],
  unidentified: [401, "Unauthorized"],
  denied: [403, "Forbidden"],
  absent: [404, "Not Found"],
  method: [405, "Method Not Allowed"],
  closed: [409, "Conflict"],
  changed: [412, "Precondition Failed"],
  large: [413, "Content Too Large"],
  media: [415, "Unsupported Media Type"],
  range: [416, "Range Not Satisfiable"],
  unfit: [422, "Unprocessable Content"],
  reused: [422, "Unprocessable Content"],
  dead: [422, "Unprocessable Content"],
  locked: [423, "Locked"],
  full: [429, "Too Many Requests"],
  unbuilt: [501, "Not Implemented"],
  unavailable: [503, "Service Unavailable"],
  damaged: [503, "Service Unavailable"],
  held: [503, "Service Unavailable"],
  exhausted: [507, "Insufficient Storage"]
}

/** The kind that the class of a refusal states itself, as one of a ledger beside those of the runtime does. */
export const statedBy = (failure: unknown): Kind | undefined => {
  const { kind } = (failure ?? {}) as { readonly kind?: unknown }
  return typeof kind === "string" && Object.hasOwn(codes, kind) ? kind as Kind : undefined
}

/**
 * The kind of a code; `undefined` for one that no request is refused with.
 */
export const kindOf = (code: string): Kind | undefined => Object.hasOwn(kinds, code) ? kinds[code] : undefined
