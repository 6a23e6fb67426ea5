/**
 * The client of the ingress that all commands share.
 *
 * It sends requests to the server of `--server`, or to the running server of the project. Without both, it opens the project in
 * this process for one command. Each uses the same ingress, so a command behaves the same either way.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Redacted from "../cell/Redacted.ts"
import * as JsonParser from "../cell/JsonParser.ts"
import * as JsonText from "../cell/JsonText.ts"
import type { Config } from "../loader/Config.ts"
import * as AnswerBody from "./AnswerBody.ts"
import { CliFailure, exitOf, exits } from "./CliFailure.ts"
import * as DataFolder from "./DataFolder.ts"
import { type Fetch, Host } from "./Host.ts"
import * as Output from "./Output.ts"
import * as RemoteServer from "./RemoteServer.ts"
import * as ServerFile from "./ServerFile.ts"

/** A request to the ingress. */
export interface Ask {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE"
  readonly body?: unknown
  /** A body that is no JSON. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
  /** The most seconds until the whole answer is there; 60 unless given, and those of the header `prefer` in addition. */
  readonly seconds?: number
  /** Whether the answer may be any value of JSON. Others are objects. */
  readonly isValue?: boolean
  /** Whether it waits for the end of an event. An end without success is then an answer, too: its receipt, `code` and `reason`. */
  readonly isOfEvent?: boolean
}

/** One event of a stream. */
export interface Event {
  /** The beat, or the cursor of a reader. */
  readonly id: string
  readonly event: string
  readonly data: string
  /** The data as JSON; `undefined` for an absent cell. */
  readonly value: unknown
}

/** The services that a client needs to find the server or to open the project. */
type Requirements = Host | FileSystem.FileSystem | Path.Path | GlobalFlag.Setting.Identifier<"data" | "env" | "server">

/**
 * Sends requests to the ingress.
 */
export class Client extends Context.Service<Client, {
  /** Sends a request and decodes the JSON of the answer. Fails with the refusal of the ingress. */
  readonly ask: <Answer>(path: string, ask?: Ask) => Effect.Effect<Answer, CliFailure>
  /** Sends a request, and reads the bytes of the answer. */
  readonly bytes: (path: string) => Effect.Effect<Uint8Array, CliFailure>
  /** The address of the server; `undefined` for a project that is open in this process. */
  readonly address?: string | undefined
  /** Whether the project has no data, and is open in memory for a command that only reads. What is created there is never kept. */
  readonly isFleeting?: boolean
  /** The events of a stream until it ends. The values that are there are objects, unless they may be any values of JSON. */
  readonly events: (path: string, ask?: Pick<Ask, "isValue">) => Stream.Stream<Event, CliFailure>
}>()("systole/cli/Client") {
  /** A client of the running server, or of the project opened in this process with a changed configuration. */
  static readonly layerWith = (
    change: (config: Config) => Config,
    isReading = false
  ): Layer.Layer<Client, CliFailure, Requirements> => Layer.effect(
    Client,
    Effect.gen(function*() {
      const host = yield* Host
      const config = change(yield* DataFolder.config)
      const running = yield* ServerFile.find(config)
      if (Option.isSome(running)) {
        const { pid, token, url } = running.value
        const unreachable =
          `The server at ${url} does not answer, and process ${pid} lives. Wait for it or end it; if it is another program, remove ` +
            `${config.data}/server.json`
        return connect({ fetch: remote, url, token, unreachable: () => unreachable })
      }
      const isFleeting = isReading && !(yield* DataFolder.exists(config))
      const opened: Config = isFleeting ? { ...config, persistence: { use: "memory", options: {} } } : config
      const { fetch: local, localToken: token } = yield* host.open(opened, isFleeting ? "memory" : isReading ? "none" : "all")
      const here = connect({ fetch: local, url: "http://localhost", token, unreachable: () => "The project does not answer" })
      return { ...here, isFleeting, address: undefined }
    })
  )

  /**
   * A client of the server of `--server`, of the running server of the project, or of the project opened in this process with a
   * changed configuration. A client that only reads creates no data folder.
   */
  static readonly layerFor = (
    change: (config: Config) => Config,
    isReading = false
  ): Layer.Layer<Client, CliFailure, Requirements> => Layer.unwrap(
    Effect.map(RemoteServer.find, Option.match({
      onNone: () => this.layerWith(change, isReading),
      onSome: ({ token, url }) =>
        Layer.effect(Client, Effect.as(DataFolder.refuseFlags, connect({ fetch: remote, url, token, unreachable: absent(url) })))
    }))
  )

  /** As {@link layer}, and a project that is opened in this process has a plugin, also if its configuration does not name it. */
  static readonly layerWithPlugin = (name: string, isReading = false): Layer.Layer<Client, CliFailure, Requirements> =>
    this.layerFor((config) => ({ ...config, parts: { [name]: {}, ...config.parts } }), isReading)

  /** A client of the server of `--server`, of the running server of the project, or of the project opened in this process. */
  static readonly layer: Layer.Layer<Client, CliFailure, Requirements> = this.layerFor((config) => config)
}

/** Sends a request to another process. */
const remote: Fetch = (request) => fetch(request)

const absent = (url: string) => (failure: unknown): string =>
  `The server at ${url} does not answer${reasonOf(failure)}. Check the address, and that the server runs`

/** The reason of a failed request, such as a certificate that is not trusted, as the host tells it. */
const reasonOf = (failure: unknown): string => {
  const { cause = failure } = failure instanceof Error ? failure : {}
  const { code, message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  const told = [message, code].find((text) => typeof text === "string" && text !== "")
  return told === undefined ? "" : `: ${String(told).slice(0, 200)}`
}

/** The target of requests, with the message for an unreachable target. */
export interface Target {
  readonly fetch: Fetch
  readonly url: string
  readonly token: Redacted.Redacted | undefined
  readonly unreachable: (failure: unknown) => string
}

/** The most seconds until an answer is there, and the most of silence in a stream, which has a comment each 15 seconds. */
const SECONDS = 60

/** The seconds in which the whole answer has to be there. */
const limitOf = ({ headers, seconds = SECONDS }: Ask): number =>
  seconds + Number(/^wait=(\d{1,5})$/.exec(headers?.["prefer"] ?? "")?.[1] ?? 0)

/** Ends a step of a request after its time. */
const within = (seconds: number) => <A, R>(step: Effect.Effect<A, CliFailure, R>): Effect.Effect<A, CliFailure, R> =>
  Effect.timeoutOrElse(step, {
    duration: seconds * 1000,
    orElse: () => Effect.fail(new CliFailure({
      exit: exits.unreachable,
      code: "server/timeout",
      message: `The server gave no whole answer within ${seconds} seconds. Send the command again; its work may have been done`
    }))
  })

/**
 * A client of one server. Each answer has limits of time and size, whatever the server sends.
 */
export const connect = ({ fetch, token, unreachable, url }: Target): Client["Service"] => {
  const send = (path: string, { body, bytes, headers, isOfEvent = false, method = "GET" }: Ask = {}) =>
    Effect.tryPromise({
      try: async (signal) =>
        fetch(
          new Request(`${url}${path}`, {
            method,
            signal,
            // A redirected request may lose its token or its body, or bring its body to another server.
            redirect: "manual",
            headers: {
              ...(token === undefined ? {} : { authorization: `Bearer ${Redacted.value(token)}` }),
              ...headers,
              ...(body === undefined ? {} : { "content-type": "application/json" })
            },
            ...(bytes === undefined ? {} : { body: bytes }),
            ...(body === undefined ? {} : { body: JsonText.write(body) })
          })
        ),
      catch: (failure) => new CliFailure({ exit: exits.unreachable, code: "server/unreachable", message: unreachable(failure) })
    }).pipe(Effect.flatMap((response) =>
      response.ok || isOfEvent && isEnd(response) ? Effect.succeed(response) : Effect.flatMap(refused(response), Effect.fail)))
  return {
    address: url,
    ask: <Answer>(path: string, ask: Ask = {}) =>
      Effect.flatMap(send(path, ask), (response) => Effect.map(read(response), response.ok ? (answer) => answer : ended)).pipe(
        Effect.filterOrFail((answer) => ask.isValue === true || isObject(answer), () => foreign("without an object")),
        within(limitOf(ask)),
        Effect.map((answer) => answer as Answer)
      ),
    bytes: (path) => within(SECONDS)(Effect.flatMap(send(path), bytesOf)),
    events: (path, { isValue = false } = {}) =>
      Stream.unwrap(Effect.map(within(SECONDS)(send(path, { headers: { accept: "text/event-stream" } })), events)).pipe(
        Stream.mapEffect((event) => isValue || event.event === ABSENT || isObject(event.value)
          ? Effect.succeed(event)
          : Effect.fail(foreign("with an event without an object")))
      )
  }
}

/** Whether a refusal is the end of an event: it names the place of the receipt. */
const isEnd = ({ headers, status }: Response): boolean => status >= 400 && status < 500 && headers.has("location")

/** The receipt of an event that ended without success, with the code and the reason of its end. */
const ended = (problem: unknown): unknown => {
  const { code, detail, event } = (problem ?? {}) as Readonly<Record<string, unknown>>
  return isObject(event) ? { ...event as object, code, reason: detail } : undefined
}

const isObject = (answer: unknown): boolean => typeof answer === "object" && answer !== null && !Array.isArray(answer)

const broke = () => new CliFailure({
  exit: exits.unreachable,
  code: "server/unreachable",
  message: "The answer broke off. The server may have stopped; send the command again"
})

const tooLong = (): CliFailure => foreign(`of more than ${AnswerBody.MAX_BYTES} bytes`)

/** The bytes of an answer. */
const bytesOf = (response: Response): Effect.Effect<Uint8Array, CliFailure> =>
  Effect.tryPromise({
    try: (signal) => AnswerBody.read(response, signal),
    catch: (failure) => failure instanceof AnswerBody.AnswerTooLong ? tooLong() : broke()
  })

/** Reads the JSON of an answer. Its fields are not validated, because client and ingress have the same version. */
const read = (response: Response): Effect.Effect<unknown, CliFailure> =>
  Effect.flatMap(bytesOf(response), (bytes) =>
    Effect.try({ try: () => JsonParser.parse(new TextDecoder().decode(bytes)), catch: () => foreign(`with status ${response.status}`) }))

/**
 * The failure for an answer that no server of this version gives. `which` describes the answer.
 */
export const foreign = (which: string): CliFailure =>
  new CliFailure({
    exit: exits.failed,
    code: "server/answer",
    message: `The answer ${which} is not from a Systole server. Check its address, and what lies between`
  })

const Problem = Schema.Struct({ code: Schema.String, detail: Schema.String })
const decodeProblem = Schema.decodeUnknownOption(Problem)
const decodeReset = Schema.decodeUnknownOption(Schema.Struct({ reason: Schema.String }))

const refused = (response: Response): Effect.Effect<CliFailure, CliFailure> => {
  const elsewhere = response.status < 400 ? response.headers.get("location") : null
  if (elsewhere !== null) return Effect.succeed(redirected(elsewhere))
  return Effect.map(read(response), (body) =>
    Option.match(decodeProblem(body), {
      onNone: () => foreign(`with status ${response.status}`),
      onSome: ({ code, detail }) => new CliFailure({ exit: exitOf(code), code, message: detail })
    }))
}

const redirected = (elsewhere: string) =>
  new CliFailure({
    exit: exits.failed,
    code: "server/redirect",
    message: `The server sends each request on to ${elsewhere}. No command follows it. Give --server the address of the server itself`
  })

/** Parses server-sent events: `id`, `event` and `data`, one field per line. */
const events = (response: Response): Stream.Stream<Event, CliFailure> => {
  if (response.body === null) return Stream.empty
  const body = response.body
  return Stream.fromReadableStream({ evaluate: () => body, onError: broke }).pipe(
    Stream.timeoutOrElse({ duration: SECONDS * 1000, orElse: () => Stream.fail(broke()) }),
    bounded,
    Stream.decodeText,
    Stream.splitLines,
    Stream.mapAccum((): Event => blank, (event, line) => {
      if (line === "") return [blank, event.event === "" ? [] : [event]] as const
      const colon = line.indexOf(": ")
      const [field, value] = [line.slice(0, colon), line.slice(colon + 2)]
      return [{ ...event, [field]: value }, []] as const
    }),
    Stream.mapEffect(valued),
    Stream.filterEffect(({ event, value }) => event !== "reset"
      ? Effect.succeed(true)
      : Effect.flatMap(told(decodeReset(value)), ({ reason }) =>
        Effect.as(Output.note(`Values may be missing before the next: ${reason}`), false)))
  )
}

/** An event with its value. Fails with the problem that ends a stream. */
const valued = (event: Event): Effect.Effect<Event, CliFailure> =>
  Effect.gen(function*() {
    if (event.event === ABSENT) return event
    const value = yield* Effect.try({ try: () => JsonParser.parse(event.data), catch: () => foreign("with an event that is no JSON") })
    if (event.event !== "problem") return { ...event, value }
    const { code, detail } = yield* told(decodeProblem(value))
    return yield* new CliFailure({ exit: exitOf(code), code, message: detail })
  })

/** The fields of an event that a client reads itself. */
const told = <A>(fields: Option.Option<A>): Effect.Effect<A, CliFailure> =>
  Option.match(fields, { onNone: () => Effect.fail(foreign("with an event that tells no reason")), onSome: Effect.succeed })

/** Fails for an event of more bytes than an answer may have. An event ends with an empty line. */
const bounded = (chunks: Stream.Stream<Uint8Array, CliFailure>): Stream.Stream<Uint8Array, CliFailure> =>
  Stream.mapAccumEffect(chunks, () => 0, (size, chunk) => {
    const end = chunk.findLastIndex((byte, i) => byte === LINE && (chunk[i - 1] === LINE || i === 0))
    const left = end < 0 ? size + chunk.byteLength : chunk.byteLength - end
    return left > AnswerBody.MAX_BYTES ? Effect.fail(tooLong()) : Effect.succeed([left, [chunk]] as const)
  })

/** The event of a cell that holds nothing. */
const ABSENT = "absent"

/** The end of a line. */
const LINE = 10

const blank: Event = { id: "", event: "", data: "", value: undefined }
