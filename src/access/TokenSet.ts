/**
 * All tokens in memory, at most {@link MAX_AGE} old.
 *
 * An older set refuses tokens until it is loaded anew. The token of the configuration is checked before, and needs no set.
 *
 * @module
 */
import * as Redacted from "../cell/Redacted.ts"
import { AccessRefused } from "./AccessRefused.ts"
import { type IsSpent, never } from "./Rates.ts"
import { VerificationCache } from "./VerificationCache.ts"
import * as Token from "./Token.ts"

/** The longest age of the set in milliseconds. So long may another host accept a token after its revocation. */
export const MAX_AGE = 10_000

/** The time between two attempts to load the tokens while that fails, in milliseconds. */
export const RETRY = 1000

/** All tokens at a revision. */
export interface Snapshot {
  /** A text that each change replaces; empty before the first. */
  readonly revision: string
  readonly tokens: ReadonlyArray<Token.Token>
  /** The passes that are over before their end: their ids, and their ends in milliseconds since 1970. */
  readonly spent: Readonly<Record<string, number>>
}

/** A pass that is over before its end, and shall be so from the next revision on. */
export interface EndedPass {
  readonly id: string
  /** Milliseconds since 1970. It is forgotten {@link Token.KEPT_MILLIS} later, since a clock may be set back. */
  readonly expires: number
  /** The next revision. */
  readonly revision: string
  /** Whether it is one of the operator, whom no other credential keeps from it. */
  readonly isOperator: boolean
}

/** The result of a change: `changed` if another one came first. */
export type SaveResult = "saved" | "changed"

/** A change of one token. It is made if the revision is still the one that its caller knows. */
export interface Change {
  readonly token: Token.Token
  /** The id of the token and digests of its secrets, as far as they end with this change. */
  readonly withdrawn?: ReadonlyArray<string>
  readonly known: string
  /** The next revision. */
  readonly revision: string
  /** Milliseconds since 1970. Tokens that expired before are removed. */
  readonly now: number
}

/**
 * The store of tokens.
 */
export interface Store {
  /** All tokens; `undefined` if the revision is the known one. */
  readonly load: (known?: string) => Promise<Snapshot | undefined>
  readonly save: (change: Change) => Promise<SaveResult>
  /** Notes the day of a use. */
  readonly use: (id: string, day: string) => Promise<void>
  /** The random text from which the key of sessions is made. It is kept at the first call with one; `undefined` before. */
  readonly key: (drawn?: string) => Promise<string | undefined>
  /** Notes that a pass is over. */
  readonly spend: (spent: EndedPass & { readonly now: number }) => Promise<EndResult>
}

/** The result of a note of a pass: `again` if it was over already; `full` without a note. */
export type EndResult = "again" | "first" | "full"

/** The parts of a set. */
export interface Parts {
  readonly store: Store
  readonly hash: { readonly hex: (text: string) => string }
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Receives the failure of a load, once until another one follows. */
  readonly report?: ((failure: unknown) => void) | undefined
}

/** A token with which an answer goes on. */
export interface AnsweredToken extends Pick<Token.Token, "expires" | "id"> {
  /** The digest of the secret that was shown. */
  readonly digest?: string | undefined
}

/** The decision on a secret. */
export type TokenDecision = {
  readonly token: Token.Token
  /** The digest of the secret that was shown; none of a JSON Web Token. */
  readonly digest?: string
} | {
  readonly refused: AccessRefused
  /** The id of a token that is over. */
  readonly id?: string
}

const NOBODY: ReadonlyArray<string> = ["0".repeat(64)]

const unknown = new AccessRefused(
  "auth/missing",
  "The request shows a token, and this server knows no such token. Send the token as it was shown when it was created"
)

/**
 * The tokens of a host.
 */
export class TokenSet {
  readonly parts: Parts
  private tokens: ReadonlyMap<string, Token.Token> = new Map()
  private revision: string | undefined
  /** The number of loads that found another table than the known one. */
  loads = 0
  private loaded = -Infinity
  /** The newest load, if it failed. */
  private failed: { readonly at: number; readonly failure: unknown } | undefined
  /** The number of tokens that were put. */
  private changes = 0
  /** The ends of the tokens that were once seen revoked: a restored store may not know it. */
  private readonly revoked = new Map<string, number>()
  private readonly dayOf = Token.days()
  private readonly counts = new Map<string, Map<string, number>>()
  /** The digests of the secrets that were accepted: the newest of each token. */
  private readonly hashed = new VerificationCache<string>()
  /** The ends of the passes that were once seen over: a restored store may not know it. */
  private readonly spent = new Map<string, number>()

  constructor(parts: Parts) {
    this.parts = parts
  }

  /** The token of a secret, at once if the set is fresh and the token was used today. */
  check(secret: Redacted.Redacted, isSpent = never): TokenDecision | Promise<TokenDecision> {
    if (this.isFresh) return this.settled(secret, isSpent)
    return Token.idIn(secret) === undefined ? { refused: unknown } : this.reloaded(secret, isSpent)
  }

  /** A decision over a set that is not too old. */
  fresh<A>(decide: () => A | Promise<A>, refuse: (refused: AccessRefused) => A): A | Promise<A> {
    return this.isFresh ? decide() : this.load().then(decide, () => refuse(unavailable))
  }

  /** A token without its secret, with the refusal of one that is over, from the set as it is. */
  find(id: string): TokenDecision & { readonly digests: ReadonlyArray<string> } | undefined {
    const token = this.tokens.get(id)
    if (token === undefined) return undefined
    const refused = this.ended(token)
    return refused === undefined ? { digests: token.digests, token } : { digests: token.digests, refused, id }
  }

  /** Notes that a pass is over. Gives whether it was not so before. @throws AccessRefused */
  async spend(spent: EndedPass): Promise<boolean> {
    const result = await this.parts.store.spend({ ...spent, now: this.parts.now() }).catch(() => "failed" as const)
    if (result === "failed") throw unavailable
    if (result === "full") throw crowded
    this.spent.set(spent.id, spent.expires)
    return result === "first"
  }

  /** Whether a pass is over before its end. */
  isSpent(id: string): boolean {
    return this.spent.has(id)
  }

  /** The refusal of a token that holds no longer, for an answer that goes on; `undefined` of one that does. */
  refusalOf({ digest, expires, id }: AnsweredToken): AccessRefused | undefined | Promise<AccessRefused | undefined> {
    if (id.startsWith(Token.JWT)) return expires > this.parts.now() ? undefined : expired({ expires, id })
    const refused = (): AccessRefused | undefined => {
      const token = this.tokens.get(id)
      return this.ended(token) ?? (digest === undefined || token?.digests.includes(digest) === true ? undefined : replaced(id))
    }
    return this.isFresh ? refused() : this.load().then(refused, () => unavailable)
  }

  /** The live token of an id. @throws AccessRefused */
  async get(id: string): Promise<Token.Token> {
    const refused = await this.refusalOf({ id, expires: Infinity })
    const token = this.tokens.get(id)
    if (refused !== undefined || token === undefined) throw refused ?? unknown
    return token
  }

  /** Takes a token that was saved. The next load takes all, since this set may be without others. */
  put(token: Token.Token): void {
    this.changes++
    this.revision = undefined
    this.take(new Map(this.tokens).set(token.id, token))
  }

  /** Counts a refusal of a token; of an unknown one and of a JSON Web Token without its id. */
  deny(id: string | undefined, code: string): void {
    const known = id === undefined ? "" : id.startsWith(Token.JWT) ? Token.JWT : this.tokens.has(id) ? id : ""
    let counts = this.counts.get(known)
    if (counts === undefined) this.counts.set(known, counts = new Map())
    counts.set(code, (counts.get(code) ?? 0) + 1)
  }

  /** The refusals of a token by their codes, or those of unknown ones. */
  denied(id = ""): Readonly<Record<string, number>> {
    return Object.fromEntries(this.counts.get(id) ?? [])
  }

  private get today(): string {
    return this.dayOf(this.parts.now())
  }

  private get isFresh(): boolean {
    const age = this.parts.now() - this.loaded
    return age >= 0 && age <= MAX_AGE
  }

  private async reloaded(secret: Redacted.Redacted, isSpent: IsSpent): Promise<TokenDecision> {
    try {
      await this.load()
    } catch {
      return { refused: unavailable }
    }
    return this.settled(secret, isSpent)
  }

  private settled(secret: Redacted.Redacted, isSpent: IsSpent): TokenDecision | Promise<TokenDecision> {
    const checked = this.found(secret, isSpent)
    return "refused" in checked || checked.token.used === this.today ? checked : this.used(checked)
  }

  /** Loads the tokens. Each request loads for itself, since on Workers none may wait for the I/O of another. */
  private async load(): Promise<void> {
    const { now, store } = this.parts
    const [at, changes] = [now(), this.changes]
    const { failed } = this
    if (failed !== undefined && at >= failed.at && at < failed.at + RETRY) throw failed.failure
    const snapshot = await store.load(this.revision).catch((failure: unknown) => this.fail(failure, at))
    this.failed = undefined
    // A token that was saved meanwhile may be newer.
    if (changes !== this.changes) return this.load()
    this.loaded = at
    if (snapshot === undefined) return
    this.revision = snapshot.revision
    this.loads++
    for (const [id, end] of Object.entries(snapshot.spent)) this.spent.set(id, end)
    for (const [id, end] of this.spent) if (end < at - Token.KEPT_MILLIS) this.spent.delete(id)
    this.take(new Map(snapshot.tokens.map((token) => [token.id, token])))
  }

  /** Another attempt follows after a while, so that requests with wrong tokens cost no load each. */
  private fail(failure: unknown, at: number): never {
    const isKnown = this.failed !== undefined && String(this.failed.failure) === String(failure)
    this.failed = { at, failure }
    if (!isKnown) this.parts.report?.(failure)
    throw failure
  }

  private take(tokens: ReadonlyMap<string, Token.Token>): void {
    this.tokens = tokens
    // No secret of a token that is over stays in memory.
    this.hashed.clear()
    for (const [id, end] of this.revoked) if (end < this.parts.now() - Token.KEPT_MILLIS) this.revoked.delete(id)
    for (const { expires, id, revoked } of tokens.values()) if (revoked !== undefined) this.revoked.set(id, expires)
    for (const id of this.counts.keys()) if (id !== "" && id !== Token.JWT && !tokens.has(id)) this.counts.delete(id)
  }

  /** The token of a secret. One that was accepted before is compared with what is remembered of it. */
  private found(secret: Redacted.Redacted, isSpent: IsSpent): TokenDecision {
    const name = Token.placedIn(secret)
    const known = this.hashed.get(name, secret)
    const token = this.tokens.get(known === undefined ? Token.idIn(secret) ?? "" : name)
    if (token === undefined && isSpent()) return { refused: unknown }
    // A rotation may have ended the secret since.
    const digest = known !== undefined && token?.digests.includes(known) === true ? known : this.proved(token, secret)
    if (token === undefined || digest === undefined) return { refused: unknown }
    const refused = this.ended(token)
    return refused === undefined ? { token, digest } : { refused, id: token.id }
  }

  /** The digest of a secret that is one of a token. Each secret is hashed once, whether its id is known or not. */
  private proved(token: Token.Token | undefined, secret: Redacted.Redacted): string | undefined {
    const shown = this.parts.hash.hex(Redacted.value(secret))
    const isShown = (token?.digests ?? NOBODY).map((digest) => Token.isSame(shown, digest)).includes(true)
    if (token === undefined || !isShown) return undefined
    this.hashed.set(token.id, secret, shown)
    return shown
  }

  /** The refusal of a token that is over. */
  private ended(token: Token.Token | undefined): AccessRefused | undefined {
    if (token === undefined) return unknown
    const { expires, id, revoked } = token
    if (revoked !== undefined || this.revoked.has(id)) {
      return new AccessRefused("auth/revoked", `Token ${Token.labelOf(id)} is revoked. Use another one`)
    }
    return expires > this.parts.now() ? undefined : expired({ expires, id })
  }

  /** Notes the first use of a day. A store that takes no note refuses nobody. */
  private async used(checked: TokenDecision & { readonly token: Token.Token }): Promise<TokenDecision> {
    const { store } = this.parts
    const { today } = this
    const { token } = checked
    const noted = { ...token, used: today }
    this.tokens = new Map(this.tokens).set(token.id, noted)
    await store.use(token.id, today).catch(() => undefined)
    return { ...checked, token: noted }
  }
}

const expired = ({ expires, id }: AnsweredToken): AccessRefused =>
  new AccessRefused("auth/expired", `Token ${Token.labelOf(id)} expired at ${new Date(expires).toISOString()}. Get another one`)

const replaced = (id: string): AccessRefused =>
  new AccessRefused("auth/revoked", `A rotation ended the secret of token ${Token.labelOf(id)} that was shown. Use the newer one`)

const unavailable = new AccessRefused(
  "access/unavailable",
  "The tokens cannot be read, so none is accepted. Send the request again, or with the token of the configuration"
)

const crowded = new AccessRefused(
  "access/full",
  `${Token.MAX_SPENT} sessions, or ${Token.MAX_SPENT_BY} of this credential, were ended early or begun by a link, and are not over yet, ` +
    "which is the limit. Try again later"
)
