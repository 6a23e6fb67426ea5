/**
 * The selection of a transport: a pure function of the request of a mount and the transports of a host.
 *
 * @module
 */
import type { Capability, Transport } from "./Transport.ts"

/** The transport that a mount asks for. */
export interface Wanted {
  /** The capabilities that a transport must have. */
  readonly required: ReadonlyArray<Capability>
  /** The capabilities of which a transport should have many. */
  readonly preferred: ReadonlyArray<Capability>
  /** The id of a transport that is taken before all others if it fits. */
  readonly provider?: string | undefined
  /** Whether the mount sends newest values, which may be lost. */
  readonly upd_latest: boolean
}

/** The ids of the transports to open, best first; or the topic of the failure. */
export type Selected = { readonly ids: readonly [string, ...Array<string>] } | { readonly failure: "tp_noprov" | "tp_policy_violation" }

/** Whether a transport has all capabilities of a list. */
const hasAll = (caps: ReadonlyArray<Capability>, wanted: ReadonlyArray<Capability>): boolean => wanted.every((each) => caps.includes(each))

const shared = (caps: ReadonlyArray<Capability>, wanted: ReadonlyArray<Capability>): number =>
  new Set(wanted.filter((each) => caps.includes(each))).size

/**
 * Selects transports: those with all required capabilities, and of these only unreliable ones for newest values. The named provider
 * comes first if it is among them, then the ones with more preferred capabilities, and of equal ones the smaller id.
 *
 * @example The transport of a mount between two machines
 * ```ts
 * import { Selection } from "systole"
 *
 * const transports = [{ id: "pipe", caps: ["reliable", "local_ipc"] }, { id: "tcp", caps: ["reliable", "remote_net"] }] as const
 * const selected = Selection.select(transports, { required: ["remote_net"], preferred: [], upd_latest: false })
 * if (!("ids" in selected) || selected.ids[0] !== "tcp") throw new Error("tcp alone reaches another machine")
 * ```
 *
 * @category constructors
 * @since 0.2.0
 */
export const select = (transports: ReadonlyArray<Pick<Transport, "caps" | "id">>, wanted: Wanted): Selected => {
  const fitting = transports.filter(({ caps }) => hasAll(caps, wanted.required))
  if (fitting.length === 0) return { failure: "tp_noprov" }
  const left = wanted.upd_latest ? fitting.filter(({ caps }) => caps.includes("unreliable")) : fitting
  const rank = ({ caps, id }: Pick<Transport, "caps" | "id">) => [id === wanted.provider ? 1 : 0, shared(caps, wanted.preferred)] as const
  const [first, ...others] = left.toSorted((one, other) => {
    const [named, bits] = rank(one)
    const [otherNamed, otherBits] = rank(other)
    return otherNamed - named || otherBits - bits || (one.id < other.id ? -1 : 1)
  }).map(({ id }) => id)
  return first === undefined ? { failure: "tp_policy_violation" } : { ids: [first, ...others] }
}
