/**
 * The plugins that a configuration can choose, each with the type of its options.
 *
 * A project adds its own by declaration merging:
 *
 *     declare module "systole" {
 *       interface ChannelOptions {
 *         readonly printer: { readonly tray?: number }
 *       }
 *     }
 *
 * @module
 */

/** No options. */
export interface NoOptions {
  readonly [option: string]: never
}

/** The place of a secret: a variable of the environment, or a file, relative to the project. */
export type SecretPlace = { readonly env: string } | { readonly file: string }

/** TLS in PEM. Workers have none. */
interface Tls {
  readonly ca?: SecretPlace
  readonly cert?: SecretPlace
  readonly key?: SecretPlace
}

/** Times and bounds of channels over HTTP. */
interface Attempts {
  /** The longest time of an attempt, in milliseconds, at most 1 day; 120,000 unless given. */
  readonly timeoutMs?: number
  /** The most requests at once; 64 unless given. */
  readonly jobs?: number
}

/** The addresses that a channel reaches. */
interface Addresses extends Tls {
  /** Names, addresses and networks beside the public addresses. */
  readonly allow?: ReadonlyArray<string>
  /** Names, addresses and networks that it does not reach. */
  readonly deny?: ReadonlyArray<string>
}

/** The addresses that a channel over HTTP reaches, and its times. */
interface Reach extends Addresses, Attempts {
  /** The longest wait for which an answer can ask, in milliseconds; 1 hour unless given. */
  readonly maxRetryAfterMs?: number
}

/** The connections of a channel, and the messages of the one that stays open. */
interface Connections extends Attempts {
  /** The bytes of an answer, and of what is written; 1 MiB unless given. */
  readonly maxBytes?: number
  /** The bytes of a message of the connection that stays open; 64 KiB unless given, at most 1 MiB. */
  readonly maxMessage?: number
  /** The form of the messages of the connection that stays open. */
  readonly messages?: "lines" | "length-prefixed" | "datagram"
  /** The signal that each message becomes, in a space: its payload is `{ text }`, or `{ data }` with `as: "bytes"`. */
  readonly inbound?: { readonly space: string; readonly signal: string; readonly as?: "text" | "bytes" }
  /** Whether an exchange may be executed again. */
  readonly repeatable?: boolean
}

/** A bucket with the S3 protocol. */
interface S3Bucket extends Tls, Attempts {
  /** Its origin, such as `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string
  readonly bucket?: string
  /** Its region; `auto` unless given. */
  readonly region?: string
  readonly accessKeyId: SecretPlace
  readonly secretAccessKey: SecretPlace
  /** The text before the names of objects. */
  readonly prefix?: string
}

/** A header that the channel `http` adds to the requests to one origin. */
export interface OriginHeader {
  readonly origin: string
  readonly name: string
  readonly value: SecretPlace
  /** The text before the value, such as `"Bearer "`. */
  readonly prefix?: string
}

/** A program that the channel `shell` may run, with its arguments and options. */
export interface AllowedProgram {
  readonly program: string
  readonly args?: "any" | ReadonlyArray<string>
  readonly options?: "any" | ReadonlyArray<string>
}

/**
 * The options of the stores, by the names of their plugins.
 *
 * @category models
 * @since 0.2.0
 */
export interface StoreOptions {
  readonly sqlite: NoOptions
  readonly memory: NoOptions
}

/**
 * The options of the stores of large content, by the names of their plugins.
 *
 * @category models
 * @since 0.2.0
 */
export interface ContentOptions {
  readonly bucket:
    | (S3Bucket & { readonly maxBytes?: number })
    | { readonly binding: string; readonly prefix?: string; readonly timeoutMs?: number; readonly maxBytes?: number }
}

/**
 * The options of the channels, by the names of their providers.
 *
 * @category models
 * @since 0.2.0
 */
export interface ChannelOptions {
  readonly http: Reach & {
    /** The largest body of an answer, in bytes, at most 1 GiB. */
    readonly maxBytes?: number
    readonly headers?: ReadonlyArray<OriginHeader>
  }
  readonly "webhook-out": Reach & {
    /** The keys with which requests are signed. */
    readonly secrets: ReadonlyArray<SecretPlace>
  }
  readonly shell: {
    /** The programs that it may run; none unless given. */
    readonly allow?: ReadonlyArray<string | AllowedProgram>
    /** The folder of `cwd` and of programs that begin with `./`; `files` unless given. */
    readonly root?: string
    /** The names of the environment that a program gets. */
    readonly env?: ReadonlyArray<string>
    /** The longest time of a program, in milliseconds. */
    readonly millis?: number
    /** The time between SIGTERM and SIGKILL, in milliseconds; 2,000 unless given. */
    readonly graceMillis?: number
    /** The kept bytes of each output. */
    readonly maxBytes?: number
    /** The programs at the same time; 8 unless given. */
    readonly processes?: number
  }
  readonly file: {
    /** Its folder; `files` unless given. */
    readonly root?: string
    /** The bytes of one operation; 64 MiB unless given. */
    readonly maxBytes?: number
    /** The entries of one list, glob or watch; 10,000 unless given. */
    readonly maxEntries?: number
  }
  readonly frame: {
    /** Its folder; `frames` unless given. */
    readonly root?: string
  }
  readonly kv: {
    /** A KV namespace binding, on Workers. */
    readonly namespace?: object
    /** The file of the table, relative to the project. */
    readonly file?: string
  }
  readonly s3: S3Bucket & { readonly maxBytes?: number; readonly maxRetryAfterMs?: number }
  readonly pipe: Connections & {
    /** The folder of its sockets and FIFOs; `pipes` unless given. */
    readonly root?: string
    /** The socket or FIFO to which a connection stays open. */
    readonly connect?: { readonly path: string }
  }
  readonly socket: Addresses & Connections & {
    /** The other side of the connection that stays open; over TCP unless given. */
    readonly connect?: { readonly host: string; readonly port: number; readonly protocol?: "tcp" | "tls" | "udp" }
  }
  readonly timer: NoOptions
  readonly worker: {
    /** The module whose exports it runs. */
    readonly module: string
    readonly threads?: number
    readonly repeatable?: boolean
    /** The memory of a thread, in MiB; 512 unless given. */
    readonly memoryMiB?: number
    /** The longest time of a call, in milliseconds; 600,000 unless given. */
    readonly timeoutMs?: number
  }
}

/** The settings of the agent, for its commands. */
export interface AgentSettings {
  /** The control file, relative to the project; `heartbeat.md` unless given. */
  readonly file?: string
  /** The space of its ledger; `agent` unless given. */
  readonly space?: string
  /** The time zone of schedules and conditions; `UTC` unless given. */
  readonly timezone?: string
  /** The time limit of an attempt without a `timeout`, such as `5m`. */
  readonly timeout?: string
  /** The attempts of an action without a `retry`, from 1 to 100. */
  readonly attempts?: number
  /** The time of a wake, such as `5m`. */
  readonly budget?: string
  /** The time of day at which "Completed Today" is cleared, as `HH:MM`. */
  readonly reset?: string
  /** The most actions at the same time, from 1 to 99. */
  readonly maxConcurrent?: number
  /** Whether a new or changed program waits for an approval: `hold` unless given. */
  readonly approval?: "hold" | "none"
}

/**
 * The settings of plugins, by the names of their fields in a configuration.
 *
 * @category models
 * @since 0.2.0
 */
export interface PluginSettings {
  readonly agent: AgentSettings & { readonly profiles?: Readonly<Record<string, AgentSettings>> }
}

/** A plugin by its name alone, if it needs no options. */
type Named<Options> = { [Use in keyof Options]: Record<never, never> extends Options[Use] ? Use : never }[keyof Options]

/** A plugin with its options, and more fields. */
type Configured<Options, More> = {
  [Use in keyof Options]: Record<never, never> extends Options[Use]
    ? { readonly use: Use; readonly options?: Options[Use] } & More
    : { readonly use: Use; readonly options: Options[Use] } & More
}[keyof Options]

/**
 * A plugin of a configuration: its name, or its name with options. `More` has the other fields beside them.
 *
 * @category models
 * @since 0.2.0
 */
export type PluginChoice<Options, More = object> = Named<Options> | Configured<Options, More>
