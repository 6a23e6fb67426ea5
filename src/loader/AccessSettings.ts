/**
 * The field `access` of the configuration: the credentials that are accepted beside its tokens.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Address from "../cell/Address.ts"
import * as Nearest from "../cell/Nearest.ts"
import * as IpAddress from "../cell/IpAddress.ts"
import * as Jwt from "../contract/Jwt.ts"
import * as PublicReads from "../contract/PublicReads.ts"
import { InvalidConfig } from "./InvalidConfig.ts"
import { isLoopback } from "./Secrets.ts"
import * as DurationField from "./DurationField.ts"

/** Whether keys may be loaded from an address: nobody between may change them. */
const isSafe = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { hostname, protocol } = new URL(text)
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname))
}

const KeysUrl = Schema.String.pipe(
  Schema.check(Schema.makeFilter(isSafe, { expected: "an address with https, such as \"https://issuer.example/jwks.json\"" }))
)
const Key = Schema.Record(Schema.String, Schema.Unknown).pipe(
  Schema.check(Schema.makeFilter((key) => !Object.hasOwn(key, "d") && !Object.hasOwn(key, "k"), {
    expected: "a public key, without the private part \"d\" or \"k\""
  }))
)
const Keys = Schema.Struct({ keys: Schema.Array(Key).check(Schema.isMinLength(1), Schema.isMaxLength(Jwt.MAX_KEYS)) })

const ScopeOf = Schema.declare((value): value is Jwt.Settings["claims"] => typeof value === "function", {
  expected: "a function that gives the scope of claims"
})

const JwtFields = Schema.Struct({
  issuer: Schema.NonEmptyString,
  audience: Schema.Union([Schema.NonEmptyString, Schema.Array(Schema.NonEmptyString).check(Schema.isMinLength(1))]),
  algorithms: Schema.Array(Schema.Literals(Jwt.algorithms)).check(Schema.isMinLength(1)),
  jwks: Schema.Union([KeysUrl, Keys]),
  tolerance: Schema.optionalKey(DurationField.of("seconds", [0, Jwt.MAX_TOLERANCE], 1000)),
  claims: ScopeOf
})

const natural = (maximum: number) => Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum })))
const Rate = Schema.optionalKey(Schema.Struct({ requests: natural(1_000_000), seconds: natural(86_400) }))

/** The most proxies. */
const MAX_PROXIES = 100

/** An IPv4 or IPv6 address, or a network of them. */
const isNetwork = (text: string): boolean => IpAddress.network(text) !== undefined

const Network = Schema.String.pipe(
  Schema.check(Schema.makeFilter(isNetwork, { expected: "an address or a network, such as \"10.0.0.0/8\"" }))
)

const Read = Schema.String.pipe(Schema.check(Schema.makeFilter((text: string) => PublicReads.read(text) !== undefined, {
  expected: "\"GET /v1/spaces/<space>/cells/<path>/**\" with a path of names, or a page, such as \"GET /menu\""
})))

/** The most origins of other sites. */
const MAX_ORIGINS = 100

/** The origin of a page, as a browser writes it: no path, and no port that its scheme has anyway. */
const isOrigin = (text: string): boolean => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
const Origin = Schema.String.pipe(Schema.check(Schema.makeFilter(isOrigin, { expected: "an origin, such as \"https://shop.example\"" })))

/** The origins of other sites. */
export const Origins = Schema.Array(Origin).check(Schema.isMaxLength(MAX_ORIGINS))

/** The fields of the configuration. */
export const Fields = Schema.Struct({
  jwt: Schema.optionalKey(JwtFields),
  public: Schema.optionalKey(Schema.Array(Read).check(Schema.isMaxLength(PublicReads.MAX_PUBLIC))),
  rates: Schema.optionalKey(Schema.Struct({ credential: Rate, address: Rate })),
  trustedProxies: Schema.optionalKey(Schema.Array(Network).check(Schema.isMaxLength(MAX_PROXIES)))
})

/** The settings of access. */
export interface AccessSettings {
  readonly jwt?: Jwt.Settings
  /** The reads that need no credential: cells of a space, or pages. */
  readonly public?: ReadonlyArray<string>
  /** The rates of requests by kinds of callers. */
  readonly rates?: typeof Fields.Type["rates"] & {}
  /** The addresses and networks of proxies that tell the address of a caller in `X-Forwarded-For`. */
  readonly trustedProxies?: ReadonlyArray<string>
}

/**
 * Settings with their defaults: what is public has a rate by address.
 */
export const withDefaults = ({ rates, ...settings }: AccessSettings): AccessSettings => {
  const limits = (settings.public ?? []).length === 0 ? rates : { address: PublicReads.RATE, ...rates }
  return { ...settings, ...limits === undefined ? {} : { rates: limits } }
}

/** A configuration with its pages by path. */
interface Paged {
  readonly access: AccessSettings
  readonly pages: Readonly<Record<string, unknown>>
}

/** The reason why nobody can read what is public; `undefined` if somebody can. */
const unreadable = (read: PublicReads.PublicRead, pages: Paged["pages"]): string | undefined => {
  if ("cell" in read) {
    if (Address.isWithin("/cas", read.cell)) return "content under /cas has no path of cells. Leave it out"
    try {
      const { id } = Address.parse(read.cell)
      return id === read.cell ? undefined : `its cell is ${id}. Write it so`
    } catch (error) {
      return (error as Address.InvalidAddress).message
    }
  }
  if (Object.hasOwn(pages, read.page)) return undefined
  const nearest = Nearest.of(read.page, Object.keys(pages))
  return `pages has no ${read.page}. ${nearest === undefined ? "Add it to pages, or leave it out" : `Did you mean ${nearest}?`}`
}

/**
 * Refuses a public read that finds nothing: a page that the configuration does not have, with the nearest one, or no cell.
 */
export const checkPublic = ({ access: { public: open = [] }, pages }: Paged): Effect.Effect<void, InvalidConfig> => {
  for (const [i, text] of open.entries()) {
    const read = PublicReads.read(text)
    const reason = read === undefined ? undefined : unreadable(read, pages)
    if (reason !== undefined) return Effect.fail(new InvalidConfig({ reason: `access.public.${i} is "${text}", and ${reason}` }))
  }
  return Effect.void
}
