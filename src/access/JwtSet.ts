/**
 * The accepted JSON Web Tokens of a host: each is verified once, and remembered until it expires or the keys of its issuer change.
 *
 * @module
 */
import { wanted } from "../contract/Tokens.ts"
import * as Address from "../cell/Address.ts"
import * as Redacted from "../cell/Redacted.ts"
import * as Codec from "../contract/Codec.ts"
import { AccessRefused } from "./AccessRefused.ts"
import { type Claims, MAX_LENGTH, type Scope, type Settings, TOLERANCE } from "../contract/Jwt.ts"
import { VerificationCache } from "./VerificationCache.ts"
import { checkScope } from "./TokenAdmin.ts"
import { JWT, type Token } from "./Token.ts"
import type { TokenDecision } from "./TokenSet.ts"
import * as Duration from "../time/Duration.ts"

/** The keys of an issuer. */
export interface Keys {
  /** A number that grows with each change of the keys. */
  readonly revision: number
  /** Whether they may be used without a load: they are young, or older ones go on. */
  readonly isFresh: boolean
  /** Loads the keys. Rejects without any keys; returns the failure if older ones go on. */
  readonly refresh: () => Promise<unknown>
  readonly find: (header: never, token: never) => Promise<unknown>
}

/** The result of a verification. */
export type JwtVerification =
  | { readonly claims: Readonly<Record<string, unknown>> }
  | { readonly refused: "expired" | "wrong"; readonly reason: string; readonly trouble?: Error }

/** Verifies tokens. Rejects while the keys cannot be loaded. */
export interface Verifier {
  readonly keys: Keys
  readonly verify: (jwt: Redacted.Redacted) => Promise<JwtVerification>
}

/** The services of a verifier. */
export interface VerifierParts {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The parts of a set. */
export interface Parts extends VerifierParts {
  readonly settings: Settings
  /** Makes the verifier, once, with the first token. */
  readonly verifier: (settings: Settings, parts: VerifierParts) => Verifier | Promise<Verifier>
  /** Receives the failure of keys or of the function of the configuration, once until another one follows. */
  readonly report: (failure: unknown) => void
}

/** A verified token, and the revision of the keys that verified it. */
interface Known {
  readonly token: Token
  readonly revision: number
}

/** The parts of a JWT: its header and claims, which are no secret, and the signature over them. */
interface Shown {
  readonly claims: string
  readonly signature: Redacted.Redacted
}

const shownIn = (jwt: string): Shown => {
  const at = jwt.lastIndexOf(".")
  return { claims: jwt.slice(0, at), signature: Redacted.make(jwt.slice(at + 1)) }
}

const refused = (reason: string) => new AccessRefused("auth/jwt", `The request shows a JWT, and ${reason}. Ask its issuer for another one`)

const unavailable = new AccessRefused(
  "access/unavailable",
  "The keys of the issuer of JWTs cannot be loaded, so none is accepted. Send the request again, or with another credential"
)

const unverified = new AccessRefused(
  "access/rate",
  "The request shows a JWT that is not known yet, and the requests of its address are used. Send it again later"
)

/** The form of a `sub`: text without control characters, and without halves of characters, which no encoding has. */
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,255}$/u

/**
 * The JSON Web Tokens of a host.
 */
export class JwtSet {
  private readonly parts: Parts
  private readonly remembered = new VerificationCache<Known>()
  private verifier: Verifier | undefined
  /** The newest failures that were told: of the keys, and of the function of the configuration. */
  private readonly told = new Map<"claims" | "keys", string>()

  constructor(parts: Parts) {
    this.parts = parts
  }

  /** The token of a JWT, at once if it is remembered and the keys are fresh. `isSpent` tells whether its caller may have it verified. */
  check(shown: Redacted.Redacted, isSpent: () => boolean = () => false): TokenDecision | Promise<TokenDecision> {
    const jwt = Redacted.value(shown)
    if (jwt.length > MAX_LENGTH) return { refused: refused(`it has ${jwt.length} characters of at most ${MAX_LENGTH}`), id: JWT }
    const parts = shownIn(jwt)
    const token = this.held(parts)
    if (token !== undefined) return { token }
    // For a token that is known, older keys are loaded anew whoever shows it.
    const isKnown = this.verifier?.keys.isFresh === false && this.remembered.get(parts.claims, parts.signature) !== undefined
    return !isKnown && isSpent() ? { refused: unverified, id: JWT } : this.verified(shown, parts, isSpent)
  }

  /** The token of a text that was accepted as a JWT, if it is remembered and its key holds. */
  known(text: Redacted.Redacted): Token | undefined {
    return this.held(shownIn(Redacted.value(text)))
  }

  /** The same of its parts. */
  private held({ claims, signature }: Shown): Token | undefined {
    const known = this.remembered.get(claims, signature)
    const keys = this.verifier?.keys
    const isHeld = known !== undefined && keys?.isFresh === true && known.revision === keys.revision
    return isHeld && known.token.expires > this.parts.now() ? known.token : undefined
  }

  /** The number of remembered tokens. */
  get size(): number {
    return this.remembered.size
  }

  private async verified(jwt: Redacted.Redacted, parts: Shown, isSpent: () => boolean): Promise<TokenDecision> {
    try {
      // Concurrent first requests use one, and none waits for the I/O of another, which Workers forbid.
      const made = this.verifier ?? await this.parts.verifier(this.parts.settings, this.parts)
      const verifier = this.verifier ??= made
      const { keys } = verifier
      if (!keys.isFresh) {
        const failure = await keys.refresh()
        if (failure === undefined) this.told.delete("keys")
        else this.tell("keys", failure)
        const token = this.held(parts)
        if (token !== undefined) return { token }
        if (isSpent()) return { refused: unverified, id: JWT }
      }
      const verified = await verifier.verify(jwt)
      if ("refused" in verified) {
        this.remembered.delete(parts.claims, parts.signature)
        if (verified.trouble !== undefined) this.tell("keys", verified.trouble)
        const code = verified.refused === "expired" ? "auth/expired" : "auth/jwt"
        const { message } = refused(verified.reason)
        return { refused: new AccessRefused(code, message), id: JWT }
      }
      const token = this.tokenOf(verified.claims)
      if (token instanceof AccessRefused) return { refused: token, id: JWT }
      this.remembered.set(parts.claims, parts.signature, { token, revision: keys.revision })
      return { token }
    } catch (failure) {
      this.tell("keys", failure)
      return { refused: unavailable, id: JWT }
    }
  }

  private tokenOf(claims: Readonly<Record<string, unknown>>): Token | AccessRefused {
    const { exp, iat, sub } = claims
    if (typeof sub !== "string" || !SUBJECT.test(sub)) return refused("its claim sub is no text of 1 to 255 characters")
    const { settings: { claims: scopeOf, tolerance = TOLERANCE } } = this.parts
    try {
      const given: unknown = scopeOf(claims as Claims)
      if (given === undefined) return refused("the configuration gives it no scope")
      const scope = scopeIn(given)
      const created = typeof iat === "number" ? iat * 1000 : 0
      return { ...scope, id: `${JWT}${sub}`, created, expires: (Number(exp) + Duration.amountOf(tolerance, 1000)) * 1000, digests: [] }
    } catch (failure) {
      this.tell("claims", failure, sub)
      return refused("the function access.jwt.claims of the configuration failed for it, and the log says how")
    }
  }

  private tell(part: "claims" | "keys", failure: unknown, sub = ""): void {
    const text = reasonOf(failure)
    if (this.told.get(part) === text) return
    this.told.set(part, text)
    // An error of the project has its place in it.
    const isTold = failure instanceof Error && !(failure instanceof Codec.Misfit)
    this.parts.report(isTold ? failure : new ClaimsFailed(`For sub ${JSON.stringify(sub)}, access.jwt.claims ${text}`))
  }
}

/** The function of the configuration failed, or gave what is no scope. */
class ClaimsFailed extends Error {
  override readonly name = "ClaimsFailed"
}

/** The scope that the function of the configuration gave. @throws Misfit, ClaimsFailed, AccessRefused, InvalidAddress */
const scopeIn = (given: unknown): Scope => {
  if (given instanceof Promise) {
    given.catch(() => undefined)
    throw new ClaimsFailed("access.jwt.claims gave a promise. Make it a function without async")
  }
  const { scope: of, ...rest } = { ...given as Scope }
  const { expires, ...scope } = Codec.decode(wanted, typeof given === "object" && given !== null ? rest : given)
  if (expires !== undefined) throw new ClaimsFailed("access.jwt.claims gave expires, and the claim exp tells the end. Leave it out")
  if (of === undefined) {
    checkScope(scope)
    return scope
  }
  // The text of an address has each scope in its form.
  const named = Address.parse(`/data?scope=${of}`).scope
  if (named === Address.SPACE || named !== of) {
    throw new ClaimsFailed("access.jwt.claims gave a scope that is none of a user or a session. Give it as user:42, or leave it out")
  }
  checkScope({ ...scope, scope: named })
  return { ...scope, scope: named }
}

/** A thrown value may be of any type, and reading it may throw again. */
const reasonOf = (failure: unknown): string => {
  if (failure instanceof Codec.Misfit) return `gave a scope that ${failure.reason.split(". Send ", 1).join("")}`
  try {
    return failure instanceof Error ? `${failure.name}: ${failure.message}` : `threw ${String(failure)}`
  } catch {
    return "threw what cannot be read"
  }
}
