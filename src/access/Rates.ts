/**
 * Limits of the rate of requests: a token bucket for each credential and space, and for each address without a credential.
 *
 * @module
 */

/** A rate: so many requests at once, which come back evenly within so many seconds. */
export interface Rate {
  readonly requests: number
  readonly seconds: number
}

/** The kinds of callers that have a rate. Those without one have no limit, and the operator never has one. */
export interface Settings {
  /** Each token, JSON Web Token and reader, in each space. */
  readonly credential?: Rate
  /** Each network address, for requests without a credential that is accepted. */
  readonly address?: Rate
}

/** The rate of the refused reports of workers from one address, where addresses have none. */
export const REPORTS: Rate = { requests: 60, seconds: 60 }

/** A kind of callers. Each address counts apart for the reports of workers that are refused. */
export type Kind = keyof Settings | "report"

/**
 * Whether the caller of a request has used its rate. Then a credential is looked for among the known ones without a digest of it, and
 * a digest is made of those that may be one of them alone. So a flood of wrong ones costs none.
 */
export type IsSpent = () => boolean

/** The rate of a caller that has none. */
export const never: IsSpent = () => false

/** The most callers of a kind that are counted. A further one replaces the one that was silent for longest. */
export const MAX_CALLERS = 10_000

/** The most spaces of one caller that are counted apart. Further ones share a bucket. */
export const MAX_SPACES = 64

/** So many requests of a caller to a space. */
interface Asked {
  readonly kind: Kind
  readonly caller: string
  readonly space: string
  readonly count: number
}

/** The result of a request. */
export interface RateResult {
  readonly kind: Kind
  readonly rate: Rate
  readonly isOver: boolean
  /** The requests that are left. */
  readonly left: number
  /** The seconds until all are back, or until the next one if none is left. */
  readonly seconds: number
}

/** The requests that are left of a bucket at a time in milliseconds. */
interface Bucket {
  left: number
  at: number
}

/** The name of the bucket that spaces share. No space can have it. */
const OTHERS = "*"

/**
 * The buckets of a host.
 */
export class Rates {
  private readonly settings: Readonly<Partial<Record<Kind, Rate>>>
  /** Milliseconds since 1970. */
  private readonly now: () => number
  private readonly callers: Readonly<Record<Kind, Map<string, Map<string, Bucket>>>> = {
    credential: new Map(), address: new Map(), report: new Map()
  }

  constructor(settings: Settings, now: () => number) {
    this.settings = { ...settings, report: settings.address ?? REPORTS }
    this.now = now
  }

  /** Whether callers of a kind have a limit. */
  has(kind: Kind): boolean {
    return this.settings[kind] !== undefined
  }

  /** Takes so many requests of a caller to a space, or none of them; `undefined` if callers of its kind have no limit. */
  takeAll({ caller, count, kind, space }: Asked): RateResult | undefined {
    const rate = this.settings[kind]
    if (rate === undefined) return undefined
    const now = this.now()
    const bucket = this.bucketOf(this.bucketsOf(kind, caller), space, { now, rate })
    bucket.left = levelOf(bucket, rate, now)
    bucket.at = now
    const isOver = bucket.left < count
    if (!isOver) bucket.left -= count
    const missing = isOver ? count - bucket.left : rate.requests - bucket.left
    return { kind, rate, isOver, left: Math.floor(bucket.left), seconds: Math.ceil(missing * rate.seconds / rate.requests) }
  }

  /** Takes one request. */
  take(kind: Kind, caller: string, space = ""): RateResult | undefined {
    return this.takeAll({ caller, count: 1, kind, space })
  }

  /** Gives a request back that shall not count. */
  giveBack(kind: Kind, caller: string): void {
    const bucket = this.callers[kind].get(caller)?.get("")
    if (bucket !== undefined) bucket.left = Math.min(bucket.left + 1, this.settings[kind]?.requests ?? 0)
  }

  /** Whether a caller without a space has no request left. Nothing is taken. */
  isSpent(kind: Kind, caller: string): boolean {
    const rate = this.settings[kind]
    const bucket = this.callers[kind].get(caller)?.get("")
    return rate !== undefined && bucket !== undefined && levelOf(bucket, rate, this.now()) < 1
  }

  /** The number of callers that are counted. */
  get size(): number {
    return this.callers.credential.size + this.callers.address.size + this.callers.report.size
  }

  private bucketsOf(kind: Kind, caller: string): Map<string, Bucket> {
    const callers = this.callers[kind]
    const buckets = callers.get(caller) ?? new Map<string, Bucket>()
    // The map is in the order of the newest requests.
    callers.delete(caller)
    callers.set(caller, buckets)
    if (callers.size > MAX_CALLERS) callers.delete(callers.keys().next().value ?? "")
    return buckets
  }

  private bucketOf(buckets: Map<string, Bucket>, space: string, { now, rate }: { readonly now: number; readonly rate: Rate }): Bucket {
    const known = buckets.get(space)
    if (known !== undefined) return known
    // A full bucket is as a new one.
    if (buckets.size >= MAX_SPACES) {
      for (const [name, bucket] of buckets) if (levelOf(bucket, rate, now) >= rate.requests) buckets.delete(name)
    }
    const name = buckets.size < MAX_SPACES ? space : OTHERS
    const bucket = buckets.get(name) ?? { left: rate.requests, at: now }
    buckets.set(name, bucket)
    return bucket
  }
}

/** A clock that was set back returns nothing until it is where it was. */
const levelOf = ({ at, left }: Bucket, { requests, seconds }: Rate, now: number): number =>
  Math.min(requests, left + Math.max(0, now - at) * requests / (seconds * 1000))
