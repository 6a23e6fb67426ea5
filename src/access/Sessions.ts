/**
 * Sessions: passes for credentials, which no host keeps, and the few that are over before their end.
 *
 * @module
 */
import * as Redacted from "../cell/Redacted.ts"
import { AccessRefused } from "./AccessRefused.ts"
import { never } from "./Rates.ts"
import { VerificationCache } from "./VerificationCache.ts"
import * as SessionPass from "./SessionPass.ts"
import { isSame } from "./Token.ts"
import type { TokenSet } from "./TokenSet.ts"

/** The duration of a bearer for a page of another site, in milliseconds. */
export const BEARER_MILLIS = 15 * 60_000

/** The duration of a link that begins a session, in milliseconds. */
export const LINK_MILLIS = 5 * 60_000

/** The time for which a host that has no key, or cannot read it, does not look for it again, in milliseconds. */
const PAUSE = 1000

/** A credential: one that a pass stands for. */
export interface Credential {
  /** Such as `operator`, `reader-web` or `token-1a2b3c4d`: 1 to 80 letters, digits, `_` or `-`. */
  readonly name: string
  /** The digest of the secret that was shown. A pass ends when it is no longer one of its credential. */
  readonly digest: string
  /** The end of the pass from which another one is made. */
  readonly until?: number | undefined
  /** The id of that pass. */
  readonly id?: string | undefined
}

/** The session of a request: the credential of its pass, and the use of that. */
export interface Session extends Credential {
  readonly kind: SessionPass.Kind
}

/** The name of the credential of the operator. */
export const OPERATOR = "operator"

/** The id and the end of the pass that shows a credential. */
type Ending = Pick<Credential, "id" | "until"> & { readonly kind?: SessionPass.Kind }

/** The owner of a credential, as a host knows it now. */
export interface Owner<A> {
  /** The digests of its secrets: one, or two during a rotation. */
  readonly digests: ReadonlyArray<string>
  /** Its rights, or the refusal of one that is over. */
  readonly access: A
}

/** A pass as it is told, once. */
export interface IssuedPass {
  readonly pass: Redacted.Redacted
  readonly expires: number
}

/** The parts of the sessions of a host. */
export interface Parts {
  readonly set: TokenSet
  /** Makes so many random bytes. */
  readonly draw: (bytes: number) => Uint8Array
  /** The token of the configuration: its change ends all sessions, and a copy of the table alone makes none. */
  readonly root: Redacted.Redacted | undefined
}

/** The texts of a pass that is over before its end, and the way to another one. */
const texts: Readonly<Record<SessionPass.Kind, readonly [subject: string, verb: string, advice: string]>> = {
  bearer: ["The bearer", "was ended", "Get another one with POST /v1/session?as=token"],
  cookie: ["The session", "was ended", "Begin another one with POST /v1/session"],
  link: ["The link", "was used", "Make another one with systole login"]
}

const over = (kind: SessionPass.Kind, at?: number): AccessRefused => {
  const [subject, verb, advice] = texts[kind]
  return new AccessRefused("auth/expired", `${subject} ${at === undefined ? verb : `ended at ${new Date(at).toISOString()}`}. ${advice}`)
}

/** The refusal of a pass that was ended, and of a link that was used. */
export const endRefusals: Readonly<Record<SessionPass.Kind, AccessRefused>> = {
  bearer: over("bearer"), cookie: over("cookie"), link: over("link")
}

const unknown = new AccessRefused(
  "auth/missing",
  "The request shows a session that this server did not begin, or whose credential has changed. Begin another one with POST /v1/session"
)

const keyless = new AccessRefused(
  "access/unavailable",
  "The key of sessions cannot be read, so none is accepted. Send the request again, or with a token"
)

/**
 * The sessions of a host.
 */
export class Sessions {
  private readonly parts: Parts
  private key: Redacted.Redacted | undefined
  /** The number of loads of the set after which the key was read: a table that was replaced may have another one. */
  private keyed = -1
  /** The passes that were accepted, and the digests of the secrets that they are made with, so that codes are computed once. */
  private readonly accepted = new VerificationCache<SessionPass.PresentedPass>()
  private digests = new WeakMap<SessionPass.PresentedPass, string>()
  /** The refusal that stands for a key that is not there, and its end. */
  private missing: { readonly refused: AccessRefused; readonly until: number } | undefined

  constructor(parts: Parts) {
    this.parts = parts
  }

  /**
   * Makes a pass that lasts at most so many milliseconds. One that is made from another ends with it.
   *
   * @throws AccessRefused
   */
  async make(kind: SessionPass.Kind, { digest, id, name, until = Infinity }: Credential, millis: number): Promise<IssuedPass> {
    const key = await this.create()
    const expires = Math.min(this.now + millis, until)
    return { pass: SessionPass.write({ kind, id: id ?? this.idOf(name), expires, name }, { key, digest }), expires }
  }

  /** The parts of a pass; `undefined` for a text that is none. Those of a pass that was accepted are at hand. */
  read(given: Redacted.Redacted): SessionPass.PresentedPass | undefined {
    const text = Redacted.value(given)
    const at = text.lastIndexOf(".")
    return this.accepted.get(text.slice(0, at), Redacted.make(text.slice(at + 1))) ?? SessionPass.read(given)
  }

  /** The access of a pass. `find` gives the owner of its credential from the set, which is fresh then. */
  access<A extends object>(
    shown: SessionPass.PresentedPass,
    find: (name: string) => Owner<A> | undefined,
    isSpent = never
  ): PassAccess<A> | Promise<PassAccess<A>> {
    const { set } = this.parts
    if (shown.expires <= this.now) return { refused: over(shown.kind, shown.expires) }
    // No code is computed for a pass that was not accepted before.
    if (this.digests.get(shown) === undefined && isSpent()) return { refused: unknown }
    const decide = (): PassAccess<A> | Promise<PassAccess<A>> => this.key !== undefined && this.keyed === set.loads
      ? this.decided(shown, this.key, find)
      : this.load().then((refused) => refused === undefined ? this.access(shown, find) : { refused })
    return set.fresh(decide, (refused) => ({ refused }))
  }

  /**
   * Ends the passes with the id of one. Those that are made now last at most so many milliseconds, and it may be of before a change of
   * that. Gives whether they were not over before.
   *
   * @throws AccessRefused
   */
  end({ id = "", name, until = 0 }: Omit<Credential, "digest">, millis: number): Promise<boolean> {
    const expires = Math.max(until, this.now + millis)
    return this.parts.set.spend({ id, expires, revision: this.draw(8), isOperator: name === OPERATOR })
  }

  /** The refusal of the pass of a credential that is over, for an answer that goes on. Its token is checked beside. */
  refusalOf({ id = "", kind = "cookie", until = Infinity }: Ending): AccessRefused | undefined | Promise<AccessRefused | undefined> {
    const { set } = this.parts
    if (until <= this.now) return over(kind, until)
    return set.fresh(() => set.isSpent(id) ? endRefusals[kind] : undefined, (refused) => refused)
  }

  /** Milliseconds since 1970. */
  get now(): number {
    return this.parts.set.parts.now()
  }

  private decided<A>(
    shown: SessionPass.PresentedPass,
    key: Redacted.Redacted,
    find: (name: string) => Owner<A> | undefined
  ): PassAccess<A> {
    const owner = find(shown.name)
    const digest = this.digestOf(shown, key, owner?.digests ?? [""])
    if (owner === undefined || digest === undefined) return { refused: unknown }
    if (this.parts.set.isSpent(shown.id)) return { refused: endRefusals[shown.kind] }
    const { expires: until, id, kind, name } = shown
    return { owner: owner.access, session: { kind, name, digest, id, until } }
  }

  /** The one of some digests that a pass is made with. */
  private digestOf(shown: SessionPass.PresentedPass, key: Redacted.Redacted, digests: ReadonlyArray<string>): string | undefined {
    const known = this.digests.get(shown)
    if (known !== undefined && digests.includes(known)) return known
    const [digest] = digests.filter((digest) => SessionPass.isMadeWith(shown, { key, digest }))
    if (digest === undefined) return undefined
    this.accepted.set(shown.text, shown.code, shown)
    this.digests.set(shown, digest)
    return digest
  }

  /** The key of this host from the random text of its table, which was read after so many loads of the set. */
  private keyOf(text: string, loads: number): Redacted.Redacted {
    const { root, set } = this.parts
    this.keyed = loads
    const secret = root === undefined ? null : Redacted.value(root)
    const key = set.parts.hash.hex(JSON.stringify(["systole/session", text, secret]))
    if (this.key !== undefined && isSame(key, Redacted.value(this.key))) return this.key
    this.accepted.clear()
    this.digests = new WeakMap()
    return this.key = Redacted.make(key)
  }

  private async create(): Promise<Redacted.Redacted> {
    const { set } = this.parts
    const { loads } = set
    try {
      const text = await set.parts.store.key(this.draw(32))
      if (text !== undefined) return this.keyOf(text, loads)
    } catch {
      // As if there were none.
    }
    throw keyless
  }

  /** Loads the key, unless that failed a moment ago: nobody makes the host look for it with each request. */
  private async load(): Promise<AccessRefused | undefined> {
    const { set } = this.parts
    const left = this.missing === undefined ? 0 : this.missing.until - this.now
    // The clock may have been set back.
    if (left > 0 && left <= PAUSE) return this.missing?.refused
    const { loads } = set
    const text = await set.parts.store.key().then((text) => text ?? unknown, () => keyless)
    if (typeof text === "string") {
      this.keyOf(text, loads)
      return undefined
    }
    this.missing = { refused: text, until: this.now + PAUSE }
    return text
  }

  /** An id of the passes of a credential. */
  private idOf(name: string): string {
    return SessionPass.ownerIn(this.parts.set.parts.hash.hex(name)) + this.draw(6)
  }

  private draw(bytes: number): string {
    return [...this.parts.draw(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  }
}

/** The access of a pass with its session, or its refusal. */
export type PassAccess<A> = { readonly refused: AccessRefused } | { readonly owner: A; readonly session: Session }

