/**
 * The open streams of those who have a part of the host's: how many there may be, and when one ends.
 *
 * @module
 */
import * as Token from "../../access/Token.ts"
import type { AccessRefused } from "../../access/AccessRefused.ts"
import type { Sessions } from "../../access/Sessions.ts"
import type { TokenSet } from "../../access/TokenSet.ts"
import type { Access, CallerAccess } from "./Caller.ts"
import { RequestRefused, response } from "../wire/Problem.ts"
import * as EndingStream from "../wire/EndingStream.ts"
import { PUBLIC_STREAMS, type StreamQuota, TOKEN_STREAMS } from "../wire/StreamQuota.ts"

/** The maximum number of open streams without a credential from one network. */
export const NETWORK_STREAMS = 32

/** Those whose streams are counted together: a token, or a network without a credential. */
interface Holder {
  readonly key: string
  readonly most: number
  /** The subject of the sentence about its open streams. */
  readonly told: string
}

/** The holder of a token's streams. */
export const ofToken = ({ id }: Pick<Token.Token, "id">): Holder =>
  ({ key: `token ${id}`, most: TOKEN_STREAMS, told: `Token ${Token.labelOf(id)} has` })

/** The holder of a request's streams; `undefined` for callers whose streams the quota of the host counts alone. */
const holderOf = ({ kind, token }: Access, network: string | undefined): Holder | undefined => {
  if (token !== undefined) return ofToken(token)
  if (kind !== "public") return undefined
  return network === undefined
    ? { key: "public", most: PUBLIC_STREAMS, told: "Callers without a credential have" }
    : { key: `public ${network}`, most: NETWORK_STREAMS, told: "This address without a credential has" }
}

/** An admitted stream, which counts from its admission on. */
export interface Seat {
  /** Tells that the quota of the host counts the stream from now on. */
  readonly begin: () => void
  /** Frees the seat. Further calls have no effect. */
  readonly leave: () => void
}

/**
 * The open event streams of tokens, of sessions, and of those without a credential.
 */
export class CallerStreams {
  private readonly tokens: Pick<TokenSet, "refusalOf"> | undefined
  private readonly quota: Pick<StreamQuota, "isReserved">
  private readonly sessions: Pick<Sessions, "refusalOf"> | undefined
  private readonly open = new Map<string, number>()
  /** The admitted streams that have not begun. */
  private waiting = 0

  /** `quota` counts all streams of the host that have begun. */
  constructor(
    quota: Pick<StreamQuota, "isReserved">,
    tokens?: Pick<TokenSet, "refusalOf">,
    sessions?: Pick<Sessions, "refusalOf">
  ) {
    this.quota = quota
    this.tokens = tokens
    this.sessions = sessions
  }

  /** The answer to a request for a stream from a network, if that is known. The stream of a holder counts from its admission on. */
  async answered(
    { signal }: Request,
    { by, network }: { readonly by: Access; readonly network: string | undefined },
    answer: () => Response | Promise<Response>
  ): Promise<Response> {
    let seat: Seat | undefined
    try {
      const holder = holderOf(by, network)
      seat = holder === undefined ? free : this.enter(holder, signal)
      return this.guarded(await answer(), by, seat)
    } catch (failure) {
      seat?.leave()
      return response(failure)
    }
  }

  /** The seat of a further stream, until its request is aborted. @throws RequestRefused */
  enter({ key, most, told }: Holder, aborted?: AbortSignal): Seat {
    const open = this.open.get(key) ?? 0
    if (open >= most || this.quota.isReserved(this.waiting)) throw new RequestRefused({
      code: "watch/full",
      reason: `${told} ${open} open streams of ${most}, or those that are left are the operator's. Close one, or try again in a moment`
    })
    this.open.set(key, open + 1)
    this.waiting++
    let state: "waits" | "began" | "left" = "waits"
    const begin = (): void => {
      if (state !== "waits") return
      state = "began"
      this.waiting--
    }
    const leave = (): void => {
      if (state === "left") return
      begin()
      state = "left"
      const left = (this.open.get(key) ?? 0) - 1
      if (left === 0) this.open.delete(key)
      else this.open.set(key, left)
    }
    if (aborted?.aborted === true) leave()
    else aborted?.addEventListener("abort", leave, { once: true })
    return { begin, leave }
  }

  /**
   * The response to a request for a stream. It ends before its next event once the token is revoked or expired, a
   * rotation ended its secret, or the session is over.
   */
  private guarded(answer: Response, by: CallerAccess, { begin, leave }: Seat): Response {
    if (EndingStream.is(answer)) {
      return EndingStream.make(answer, { begin, end: leave, isOver: async () => await this.refusalOf(by) !== undefined })
    }
    leave()
    return answer
  }

  private async refusalOf({ again, digest, session, token }: CallerAccess): Promise<AccessRefused | undefined> {
    const checked = await again?.()
    if (checked !== undefined && "refused" in checked) return checked.refused
    const refused = session === undefined ? undefined : await this.sessions?.refusalOf(session)
    if (refused !== undefined || token === undefined) return refused
    const { expires, id } = token
    return this.tokens?.refusalOf({ expires, id, digest: session?.digest ?? digest })
  }
}

/** The seat of a stream that the quota of the host counts alone. */
const free: Seat = { begin: () => undefined, leave: () => undefined }
