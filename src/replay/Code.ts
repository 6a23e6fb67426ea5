/**
 * The code of a replay: the enzymes and nodes that were active in a beat.
 *
 * A module that runs now is used if its digest equals the recorded one. Other modules are restored from their texts,
 * which the store keeps as long as a beat that ran them. If the text is gone, the current module of that name is used.
 * Enzymes and nodes without a module are the current ones. A live beat never uses the code gathered here.
 *
 * @module
 */
import type { HistorySource } from "../kernel/beat/HistorySource.ts"
import type { Documents } from "../kernel/model/Documents.ts"
import type * as Journal from "../kernel/journal/Journal.ts"
import * as Modules from "../kernel/model/Modules.ts"
import type { RestoredModule } from "../kernel/model/ModuleRestore.ts"
import type { Enzyme } from "../registry/Enzyme.ts"
import { InvalidEnzyme } from "../registry/Enzyme.ts"
import type { Code as Origin, Enzymes, Entry } from "../registry/Registry.ts"
import type { Definition } from "../scheduler/definition/Definition.ts"
import * as Services from "../registry/Services.ts"
import { moduleOf } from "../scheduler/definition/Piece.ts"
import type { HistoricStore } from "../kernel/history/HistoricStore.ts"
import type { RunRecord } from "../kernel/journal/RunLine.ts"
import * as Records from "../kernel/journal/JournalRecords.ts"

/** Returns the key of a node. */
const ofNode = (name: string): string => `node ${name}`

/** An enzyme of the recorded beat, and its module. */
type Found = Pick<Entry, "enzyme" | "code">

/**
 * The active enzymes and nodes, beat by beat.
 */
export class Code {
  /** The enzymes of the newest beat loaded. */
  enzymes: Enzymes
  /** Modules that were replaced by other code in a loaded beat, because their own is unavailable. */
  readonly replaced = new Set<string>()
  private readonly history: HistorySource
  private readonly active: Map<string, Modules.Module>
  /** Restored modules, or the reason why a module is unavailable, by the digest of its text. */
  private readonly modules = new Map<string, RestoredModule | string>()
  /** Nodes with a module, by name. */
  private nodes = new Map<string, Definition>()
  /** Unavailable enzymes and nodes of the recorded beat, by name, with the reason. */
  private absent = new Map<string, string>()
  /** The services of other code than that of the recorded beat, by the names of the enzymes that take them. */
  private swapped = new Map<string, ReadonlyArray<string>>()

  private constructor(history: HistorySource, active: Map<string, Modules.Module>) {
    this.history = history
    this.active = active
    this.enzymes = history.enzymes
  }

  /** Returns the active code of the first beat of a replay. */
  static async before(history: HistorySource, historic: HistoricStore, documents: Documents): Promise<Code> {
    const code = new Code(history, Modules.modulesOf(historic, documents))
    await code.gather()
    return code
  }

  /** Continues to the beat of an entry. */
  async see(entry: Journal.Entry): Promise<void> {
    const modules = Records.modulesOf(Records.cellsOf(entry))
    if (modules.length === 0) return
    for (const module of modules) {
      if (module.digests.length === 0) this.active.delete(module.name)
      else this.active.set(module.name, module)
    }
    await this.gather()
  }

  /**
   * Returns the modules that may explain a difference: code that ran in the beat, in the recording or the replay, and
   * is not available unchanged. `made` is the entry that the replay made, if it made one.
   */
  missing(entry: Journal.Entry, made: Journal.Entry | undefined): ReadonlyArray<string> {
    const runs = runsOf(entry, made)
    const here = new Set(this.enzymes.active().map(({ name }) => name))
    const missing = new Set<string>()
    for (const { enzyme } of runs) {
      const [name = enzyme] = enzyme.split("~")
      const reason = this.absent.get(name)
      if (reason !== undefined) missing.add(`${name}, whose ${reason}`)
      else if (!here.has(name)) missing.add(`${name}, which is not registered`)
    }
    for (const { name } of [...Records.nodesOf(entry.nodes), ...Records.nodesOf(made?.nodes)]) {
      const reason = this.absent.get(ofNode(moduleOf(name)))
      if (reason !== undefined) missing.add(`${ofNode(moduleOf(name))}, whose ${reason}`)
    }
    return [...missing]
  }

  /** Returns the services that may explain a difference: those of a run of the beat whose code is not available. */
  missingServices(entry: Journal.Entry, made: Journal.Entry | undefined): ReadonlyArray<string> {
    return [...new Set(runsOf(entry, made).flatMap(({ enzyme }) => this.swapped.get(enzyme.split("~")[0] ?? enzyme) ?? []))]
  }

  /** Returns the node of this name in the newest beat loaded. */
  node(name: string): Definition | undefined {
    const live = this.history.nodes.get(name)
    return this.nodes.get(name) ?? (live?.code === undefined ? live?.definition : undefined)
  }

  /** Builds the registry of the recorded beat from the available code. */
  private async gather(): Promise<void> {
    const live = Map.groupBy(this.history.enzymes.all(), ({ code, name }) => code === undefined ? "" : name)
    this.absent = new Map()
    const enzymes = this.history.enzymes.fresh()
    for (const { enzyme } of live.get("") ?? []) enzymes.register(enzyme)
    this.nodes = new Map()
    this.swapped = new Map()
    const services = await this.services()
    for (const module of this.active.values()) {
      if (Modules.pluginOf(module) !== undefined) continue
      const { digests, name } = module
      const node = Modules.nodeOf(module)
      if (node !== undefined) {
        const [digest] = digests
        if (digest !== undefined) await this.gatherNode(node, digest)
        continue
      }
      const mine = live.get(name) ?? []
      const found = await this.find(name, digests, mine)
      const reason = typeof found === "string" ? found : registered(enzymes, this.served(found, services))
      if (reason === undefined) continue
      this.absent.set(name, reason)
      this.replaced.add(name)
      registered(enzymes, mine)
    }
    enzymes.activate()
    this.enzymes = enzymes
  }

  private async gatherNode(name: string, digest: string): Promise<void> {
    const live = this.history.nodes.get(name)
    if (live?.code?.hash === digest) return void this.nodes.set(name, live.definition)
    const module = await this.moduleOf(digest)
    const found = typeof module === "string" ? undefined : module.nodes.find((node) => node.name === name)
    const definition = found ?? live?.definition
    if (definition !== undefined) this.nodes.set(name, definition)
    if (found !== undefined) return
    this.absent.set(ofNode(name), typeof module === "string" ? module : `text /cas/${digest} makes no node of this name`)
    this.replaced.add(name)
  }

  /** Gathers the services of the recorded beat, from current plugins and from stored texts. */
  private async services(): Promise<RecordedServices> {
    const live = [...new Set(this.history.enzymes.all().flatMap(({ code }) => code?.services ?? []))]
    const providers: Array<Services.Provider> = []
    const lost: Array<string> = []
    for (const module of this.active.values()) {
      const plugin = Modules.pluginOf(module)
      if (plugin === undefined) continue
      for (const digest of module.digests) {
        const here = live.find(({ code }) => code?.hash === digest)
        const restored = here === undefined ? await this.moduleOf(digest) : undefined
        const provider = here ?? (typeof restored === "string" ? restored : restored?.services)
        if (typeof provider === "object") providers.push(provider)
        else lost.push(`the plugin "${plugin}", whose ${provider ?? `text /cas/${digest} has no services`}`)
      }
    }
    return { providers, live, lost }
  }

  /** Gives enzymes the services of the recorded beat. Those that are not available are the current ones. */
  private served(found: ReadonlyArray<Found>, { live, lost, providers }: RecordedServices): ReadonlyArray<Found> {
    return found.flatMap((each) => {
      const { enzyme } = each
      const others = lost.length === 0 ? [] : enzyme.services.filter((key) => Services.providerOf(key, providers) === undefined)
      if (others.length > 0) {
        this.swapped.set(enzyme.name, others.map((key) => `${JSON.stringify(key)} of ${lost.join(" or ")}`))
        for (const key of others) this.replaced.add(`service ${key}`)
      }
      const all = [...providers, ...live]
      if (enzyme.services.length === 0) return [each]
      if (enzyme.services.some((key) => Services.providerOf(key, all) === undefined)) return []
      const { services, ...bound } = Services.bind(enzyme, all)
      return [{ ...bound, code: each.code && { ...each.code, services } }]
    })
  }

  /** Returns the enzymes of one name, from current modules and from stored texts. */
  private async find(
    name: string,
    digests: ReadonlyArray<string>,
    live: ReadonlyArray<Entry>
  ): Promise<ReadonlyArray<Found> | string> {
    const left = new Map<string, Array<Found>>()
    for (const digest of new Set(digests)) {
      // A module may export several enzymes of one name; they can be told apart only if all of them ran.
      const count = digests.filter((other) => other === digest).length
      const running = live.filter(({ code }) => code?.hash === digest)
      if (running.length === count) {
        left.set(digest, running)
        continue
      }
      const module = await this.moduleOf(digest)
      if (typeof module === "string") return module
      const enzymes = module.enzymes.filter((enzyme) => enzyme.name === name)
      if (enzymes.length !== count) return `text /cas/${digest} makes ${enzymes.length} of this name, and there were ${count}`
      left.set(digest, enzymes.map((enzyme) => ({ enzyme, code: { hash: digest } })))
    }
    return digests.flatMap((digest) => left.get(digest)?.shift() ?? [])
  }

  private async moduleOf(digest: string): Promise<RestoredModule | string> {
    const known = this.modules.get(digest)
    if (known !== undefined) return known
    const module = await this.bring(digest)
    this.modules.set(digest, module)
    return module
  }

  private async bring(digest: string): Promise<RestoredModule | string> {
    const { hash, rest, restore, store } = this.history
    const pause = rest()
    if (pause !== undefined) await pause
    const bytes = store.blob(digest)
    if (bytes !== undefined && hash(bytes) !== digest) return `text /cas/${digest} is not what was kept: its digest is another`
    const module = await restore(digest, bytes === undefined ? undefined : new TextDecoder().decode(bytes))
    if (typeof module === "string" && bytes === undefined) return `text /cas/${digest} is not kept`
    return typeof module === "string" ? `text /cas/${digest} cannot be loaded: ${module}` : module
  }
}

/** The services of a recorded beat, the current ones, and the plugins whose services are not available. */
interface RecordedServices {
  readonly providers: ReadonlyArray<Services.Provider>
  readonly live: ReadonlyArray<Services.Provider>
  readonly lost: ReadonlyArray<string>
}

/** Registers enzymes. Returns the reason if one of them is refused today. */
const registered = (
  enzymes: Enzymes,
  found: ReadonlyArray<{ readonly enzyme: Enzyme; readonly code: Origin | undefined }>
): string | undefined => {
  try {
    for (const { code, enzyme } of found) enzymes.register(enzyme, code)
    return undefined
  } catch (error) {
    if (error instanceof InvalidEnzyme) return `code is refused today: ${error.reason}`
    throw error
  }
}

/** Outcomes that the runtime decides without a run. */
const settled: ReadonlySet<string | undefined> = new Set(["enzyme/gone", "signal/storm"])

/** The runs of an entry, and of the one that a replay made. */
const runsOf = (entry: Journal.Entry, made: Journal.Entry | undefined): ReadonlyArray<RunRecord> =>
  [...Records.ownRunsOf(entry), ...made === undefined ? [] : Records.ownRunsOf(made)].filter(isRun)

const isRun = (run: RunRecord): boolean => !settled.has(Records.codeOf(run)) && !/^(space|OPS):/.test(run.enzyme)
