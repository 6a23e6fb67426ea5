/**
 * The administration of tokens: creation, rotation, revocation and the list.
 *
 * @module
 */
import * as Address from "../cell/Address.ts"
import * as Redacted from "../cell/Redacted.ts"
import type { wanted } from "../contract/Tokens.ts"
import { isSpaceName } from "../persistence/SpaceName.ts"
import * as Duration from "../time/Duration.ts"
import { AccessRefused } from "./AccessRefused.ts"
import * as AccessTable from "./AccessTable.ts"
import { JWT, labelOf, MAX_TOKENS, type Token } from "./Token.ts"
import type { Snapshot, TokenSet } from "./TokenSet.ts"

/** The body of a request for a token. */
export type TokenRequest = ReturnType<typeof wanted>["Type"]

/** A secret, which is told once. */
export interface Secret {
  readonly id: string
  readonly token: Redacted.Redacted
  readonly expires: number
}

/** The parts of an administration. `draw` makes so many random bytes. */
export interface Parts {
  readonly set: TokenSet
  readonly draw: (bytes: number) => Uint8Array
}

/** The administrator: a token, or `undefined` for the token of the configuration, which has all verbs. */
export type Administrator = Token | undefined

/** The duration of a token that states none. */
const LIFE = "90d"

/** The attempts of a change that meets others. */
const ATTEMPTS = 5

const invalid = (reason: string) => new AccessRefused("access/invalid", reason)

/** The atoms of label rules. That of the operator, by which addresses are withheld, is none. */
const ATOM = /^[\w.:-]{1,64}$/

/** Checks that a scope means something. @throws AccessRefused, InvalidAddress */
export const checkScope = (
  { clearance, prefixes = [], scope, spaces = [], verbs }: Omit<TokenRequest, "expires"> & Pick<Token, "scope">
): void => {
  const wrong = clearance?.find((atom) => !ATOM.test(atom))
  if (wrong !== undefined) throw invalid(`${JSON.stringify(wrong.slice(0, 100))} is no atom; it has 1 to 64 letters, digits, or . _ : -`)
  const misnamed = spaces.find((space) => !isSpaceName(space))
  if (misnamed !== undefined) throw invalid(`${JSON.stringify(misnamed.slice(0, 100))} is no name of a space`)
  for (const prefix of prefixes) {
    const { id, text } = Address.parse(prefix)
    if (id !== text || id !== prefix) throw invalid(`The prefix ${prefix.slice(0, 200)} is not a cell. Write it as /data/orders`)
  }
  const other = verbs.find((verb) => verb !== "read" && verb !== "signal")
  if (other !== undefined && (prefixes.length > 0 || clearance !== undefined || scope !== undefined)) {
    throw invalid(`A token with prefixes, a clearance or a scope has the verbs read and signal alone, and this one has "${other}"`)
  }
}

/** Refuses to hand on a verb that the administrator lacks. @throws AccessRefused */
const checkVerbs = (by: Administrator, verbs: Token["verbs"]): void => {
  const missing = by === undefined ? undefined : verbs.find((verb) => !by.verbs.includes(verb))
  if (missing !== undefined) {
    throw new AccessRefused("access/verb", `Token ${labelOf(by?.id ?? "")} lacks the verb "${missing}", and gives it to no other`)
  }
}

/** Digits of ids, 5 bits each. */
const DIGITS = "0123456789abcdefghijklmnopqrstuv"

/**
 * The administration of a set of tokens.
 */
export class TokenAdmin {
  private readonly parts: Parts

  constructor(parts: Parts) {
    this.parts = parts
  }

  /** Creates a token, which ends with its creator at the latest. @throws AccessRefused, InvalidAddress */
  create(wanted: TokenRequest, by: Administrator): Promise<Secret> {
    checkScope(wanted)
    checkVerbs(by, wanted.verbs)
    const life = Duration.parse(wanted.expires ?? LIFE)
    if (life === undefined) throw invalid(`expires is ${JSON.stringify(wanted.expires?.slice(0, 100))}. Give it as 90d, up to 366d`)
    const id = [...this.parts.draw(8)].map((byte) => DIGITS[byte % 32]).join("")
    const token = this.secretOf(id)
    const { now } = this
    if (by !== undefined && wanted.expires !== undefined && now + life > by.expires) {
      throw invalid(`expires is ${wanted.expires}, and token ${labelOf(by.id)}, which creates it, ends at ${dateOf(by.expires)}. ` +
        "Leave expires out, and both end then")
    }
    const { expires: _, ...scope } = wanted
    const row = { ...scope, id, created: now, expires: Math.min(now + life, by?.expires ?? Infinity), digests: [this.digest(token)] }
    return this.change(({ tokens }) => {
      if (tokens.filter(({ expires, revoked }) => revoked === undefined && expires > now).length >= MAX_TOKENS) throw full
      return row
    }).then(() => ({ id, token, expires: row.expires }))
  }

  /** Gives a token another secret beside its newest one. @throws AccessRefused */
  async rotate(id: string, by: Administrator): Promise<Secret> {
    const token = this.secretOf(id)
    const { expires } = await this.change((snapshot) => {
      const row = live(snapshot, id)
      checkVerbs(by, row.verbs)
      if (by !== undefined && row.expires > by.expires) {
        throw invalid(`Token ${labelOf(id)} ends at ${dateOf(row.expires)}, after token ${labelOf(by.id)}, which rotates it. Rotate it ` +
          "with a token that ends later, or with the one of the configuration")
      }
      return { ...row, digests: [this.digest(token), ...row.digests.slice(0, 1)] }
    })
    return { id, token, expires }
  }

  /** Ends the older secret. @throws AccessRefused */
  settle(id: string): Promise<Token> {
    return this.change((snapshot) => {
      const row = live(snapshot, id)
      return { ...row, digests: row.digests.slice(0, 1) }
    })
  }

  /** Revokes a token. @throws AccessRefused */
  revoke(id: string): Promise<Token> {
    return this.change((snapshot) => {
      const row = any(snapshot, id)
      return { ...row, revoked: row.revoked ?? this.now }
    })
  }

  /** A page of all tokens by their ids. */
  async list(after: string, limit: number) {
    const { set } = this.parts
    const { tokens } = await this.snapshot()
    const rest = tokens.filter(({ id }) => id > after).sort((a, b) => a.id < b.id ? -1 : 1)
    const rows = rest.slice(0, limit).map(({ digests, ...row }) => {
      const denied = set.denied(row.id)
      return { ...row, secrets: digests.length, ...Object.keys(denied).length === 0 ? {} : { denied } }
    })
    const unknown = Object.values(set.denied()).reduce((sum, count) => sum + count, 0)
    const jwt = set.denied(JWT)
    const counts = { unknown, ...Object.keys(jwt).length === 0 ? {} : { jwt } }
    return { tokens: rows, next: rest.length > limit ? rows.at(-1)?.id : undefined, ...counts }
  }

  private get now(): number {
    return this.parts.set.parts.now()
  }

  private secretOf(id: string): Redacted.Redacted {
    const text = btoa(String.fromCharCode(...this.parts.draw(32)))
    return Redacted.make(`${labelOf(id)}_${text.replaceAll("+", "-").replaceAll("/", "_").slice(0, 43)}`)
  }

  private digest(secret: Redacted.Redacted): string {
    return this.parts.set.parts.hash.hex(Redacted.value(secret))
  }

  private async snapshot(): Promise<Snapshot> {
    try {
      return await this.parts.set.parts.store.load() ?? AccessTable.none
    } catch (failure) {
      throw unavailable(failure)
    }
  }

  /** Changes one token, again if another change comes first. */
  private async change(make: (snapshot: Snapshot) => Token): Promise<Token> {
    const { draw, set } = this.parts
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const snapshot = await this.snapshot()
      const token = make(snapshot)
      const revision = [...draw(8)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
      const change = { token, withdrawn: withdrawn(snapshot, token), known: snapshot.revision, revision, now: this.now }
      const saved = await set.parts.store.save(change).catch((failure: unknown) => Promise.reject(unavailable(failure)))
      if (saved === "changed") continue
      set.put(token)
      return token
    }
    throw unavailable("other changes came first")
  }
}

const dateOf = (moment: number): string => new Date(moment).toISOString()

/** The id of a token that a change revokes, and the digests of the secrets that it ends. */
const withdrawn = ({ tokens }: Snapshot, { digests, id, revoked }: Token): ReadonlyArray<string> => {
  const before = tokens.find((token) => token.id === id)?.digests ?? []
  return [...revoked === undefined ? [] : [id], ...before.filter((digest) => !digests.includes(digest))]
}

const any = ({ tokens }: Snapshot, id: string): Token => {
  const found = tokens.find((token) => token.id === id)
  if (found === undefined) throw new AccessRefused("access/absent", `There is no token ${labelOf(id.slice(0, 100))}`)
  return found
}

const live = (snapshot: Snapshot, id: string): Token => {
  const token = any(snapshot, id)
  if (token.revoked === undefined) return token
  throw new AccessRefused("access/absent", `Token ${labelOf(id)} is revoked, and has no secret any more`)
}

const full = new AccessRefused("access/full", `There are ${MAX_TOKENS} live tokens, which is the limit. Revoke one`)

const unavailable = (failure: unknown) => {
  const why = failure instanceof Error ? failure.message : String(failure)
  return new AccessRefused("access/unavailable", `The tokens cannot be read or changed: ${why.slice(0, 200)}. Send the request again`)
}
