/**
 * A simulated world: hosts over one disk, with the time, the server and the promises of all.
 *
 * One action happens at a time, and the world is driven until nothing more happens by itself.
 *
 * @module
 */
import { Context, Effect, Exit, Layer, Scope, Stream } from "effect"
import { RemotePeers } from "../../src/kernel/live/Delivery.ts"
import { ModuleRestore } from "../../src/kernel/model/ModuleRestore.ts"
import {
  Hash, Kernel, Link, MemoryStore, type Observation, Pacemaker, Persistence, Reactor, type Space, SystemGrants
} from "systole"
import { TestRuntime } from "systole/testing"
import * as HashLayer from "../support/HashLayer.ts"
import { present } from "../support/Present.ts"
import * as Random from "../support/Random.ts"
import * as Agent from "./Agent.ts"
import * as Clockwork from "./Clockwork.ts"
import { Bank, type Tell } from "./Bank.ts"
import { Code, type Deployed } from "./Code.ts"
import { Deliveries } from "./Deliveries.ts"
import * as Derived from "./Derived.ts"
import * as Door from "./Door.ts"
import { Disk } from "./Disk.ts"
import { Drivers } from "./Driver.ts"
import { Files } from "./Files.ts"
import * as Hosts from "./Host.ts"
import * as Ledgers from "./Ledgers.ts"
import * as Modules from "./Modules.ts"
import { Network } from "./Network.ts"
import { Copies } from "./Copies.ts"
import type { Plan } from "./Plan.ts"
import { WorldClock } from "./WorldClock.ts"
import * as WorldSettings from "./WorldSettings.ts"

/** Macrotasks without an event after which nothing more happens by itself. */
const QUIET = 4

/** The most turns of one action. */
const MAX_TURNS = 20_000

/** A client that follows a cell. */
export interface Follower {
  readonly space: string
  readonly address: string
  readonly host: number
  readonly life: number
  readonly seen: Array<Observation>
  isOver: boolean
}

/** An acknowledged signal. */
export interface Acknowledged {
  readonly space: string
  readonly id: string
  readonly step: number
}

/** Runs a function as a macrotask of its own, when the microtask queue is empty. */
const macrotask = (run: () => void): Promise<void> =>
  new Promise((resolve) => void setImmediate(() => {
    run()
    resolve()
  }))

/** The first-party enzymes may write below sealed folders. */
const granted = Layer.succeed(SystemGrants, new Set(["rv_init", "mr_init", "mr_route"]))

/** The world of a plan. */
export class World {
  readonly plan: Plan
  readonly clock = new WorldClock()
  readonly random: Random.Random
  /** The choices of the checkers. */
  readonly checking: Random.Random
  readonly disk: Disk
  readonly bank: Bank
  readonly network: Network
  readonly deliveries: Deliveries
  readonly hosts: ReadonlyArray<Hosts.Host>
  /** The names of the spaces: those of the plan, and then copies. */
  readonly names: Array<string>
  /** The host of each space. */
  readonly homes: Array<number>
  readonly copies: Copies
  /** The copies and the restored spaces, with the action that brought each. */
  readonly arrivals = new Map<string, number>()
  acknowledged: Array<Acknowledged> = []
  readonly code: Code
  /** The spaces that were rolled back, with the action that asked for it. */
  readonly rollbacks = new Map<string, number>()
  /** The spaces that told the beginning of a pause or a shutdown, and were not asked to go on since. */
  readonly gated = new Set<string>()
  /** The spaces that were removed and made anew, with the number of attempts that the bank had seen. */
  readonly renewals = new Map<string, number>()
  /** Whether two hosts had one space at a time. */
  wasSplit = false
  /** The events with a handling that an operator began again or ended. */
  readonly touched = new Set<string>()
  /** The spaces and events with a run that was cancelled at once, with the number of attempts that the bank had seen. */
  readonly cancelled = new Map<string, number>()
  /** The answers to actions, by the order of these. */
  readonly answers: Array<string> = []
  /** Contradictions that a part of the world saw. */
  readonly wrong: Array<string> = []
  private readonly followers: Array<Follower> = []
  /** The number of the current action. */
  step = 0
  /** The number of events of each kind, for coverage. */
  readonly counts = new Map<string, number>()
  private readonly scope = Effect.runSync(Scope.make())
  /** The files of the spaces, unless they are in memory. */
  readonly files: Files | undefined
  /** The disk without its delays and faults. */
  readonly memory: Persistence["Service"]
  private readonly turns: Array<() => void> = []
  private events = 0

  constructor(plan: Plan) {
    this.plan = plan
    this.random = Random.make(plan.seed)
    this.checking = Random.make(plan.seed + 2)
    const tell: Tell = { count: (kind: string) => this.count(kind), wrong: (text: string) => void this.wrong.push(text) }
    this.disk = new Disk(plan.faults, tell.count)
    const isDetached = (space: string): boolean => this.disk.isDetached(space)
    this.deliveries = new Deliveries({ ...tell, isDetached })
    const isGated = (space: string): boolean => this.gated.has(space)
    const isCopied = (space: string): boolean => this.arrivals.has(space)
    const server = { seed: plan.seed, jobs: plan.jobs, faults: plan.bank, isGated, isDetached, isCopied }
    this.bank = new Bank(this.clock, { ...tell, ...server })
    this.network = new Network(this.clock, { seed: plan.seed + 1, faults: plan.network, ...tell, isDetached })
    this.hosts = Array.from({ length: plan.hosts }, Hosts.make)
    this.names = [...plan.spaces]
    this.homes = plan.spaces.map((_, i) => i % plan.hosts)
    this.copies = new Copies(this)
    this.files = plan.isOnFiles ? new Files(tell.count) : undefined
    const drivers = new Drivers(plan.driver, { count: tell.count, isWell: () => this.disk.isWell })
    const layer = this.files?.layer(drivers.around) ?? Layer.provide(MemoryStore.layer, HashLayer.layer)
    const isSteady = plan.steps.every(({ action }) => action !== "clock")
    this.code = new Code({
      absent: plan.absent,
      must: (effect) => this.must(effect),
      others: [
        ...Derived.effects((delivered) => this.deliveries.take(delivered)), ...Ledgers.modules(), ...plan.hasAgent ? Agent.enzymes : []
      ],
      outside: (versions) => ({ spaces: plan.spaces, enzymes: Modules.plainNames, versions, isSteady, ...tell })
    })
    this.memory = Context.get(Effect.runSync(Layer.buildWithScope(layer, this.scope)), Persistence)
  }

  /** Counts an event. */
  count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }

  /** A space has told that it pauses or ends, or is asked to go on. */
  gate(space: string, isGated: boolean): Effect.Effect<void> {
    return Effect.sync(() => void (isGated ? this.gated.add(space) : this.gated.delete(space)))
  }

  private host(host: number): Hosts.Host {
    return present(this.hosts[host])
  }

  /** Does the next thing of the world itself; returns whether there was one. */
  private async beat(): Promise<boolean> {
    const before = this.events
    await macrotask(() => {
      const run = this.turns.shift()
      if (run === undefined) return
      this.events++
      run()
    })
    return this.events !== before
  }

  /** Lets so many turns pass. */
  async pass(turns: number): Promise<void> {
    for (let i = 0; i < turns; i++) await this.beat()
  }

  /** Drives the world until nothing more happens by itself. */
  async quiet(): Promise<void> {
    let still = 0
    for (let turns = 0; still < QUIET; turns++) {
      still = await this.beat() ? 0 : still + 1
      if (turns > MAX_TURNS) throw new Error(`the world does not come to rest within ${MAX_TURNS} turns`)
    }
  }

  /** Lets time pass, with all its events. */
  async advance(millis: number): Promise<void> {
    const until = this.clock.elapsed + millis
    for (;;) {
      await this.quiet()
      this.events++
      if (!this.clock.step(until)) break
    }
    await this.quiet()
  }

  /** Sets the clock of a host by so many milliseconds. */
  skew(host: number, by: number): void {
    const set = this.host(host)
    set.skew += by
    // The wakes of resting spaces run early then, as on a real host.
    for (const wake of Array.from(set.wakes)) wake()
  }

  /** Lets a host sleep while time passes for the others. All that came meanwhile happens at its waking. */
  async nap(host: number, millis: number): Promise<void> {
    const own = this.host(host)
    const dreams: Array<() => void> = []
    own.dreams = dreams
    await this.advance(millis)
    own.slept += millis
    own.dreams = undefined
    this.turns.push(...dreams)
    await this.quiet()
  }

  /** The spaces of other hosts, behind the network. */
  private readonly remote = (name: string) => {
    const space = this.names.indexOf(name)
    return Effect.succeed(this.network.peer(name, () => {
      const host = this.host(this.homes[space] ?? 0)
      return { kernel: host.kernel, whenDead: (tell) => void host.ends.push(tell) }
    }))
  }

  /** The result of an Effect once the world is at rest; `undefined` while it is not over. */
  async run<A, E>(effect: Effect.Effect<A, E>): Promise<Exit.Exit<A, E> | undefined> {
    const answer = this.ask(effect)
    await this.quiet()
    return answer()
  }

  /** The value of an Effect that succeeds at once. */
  private async must<A, E>(effect: Effect.Effect<A, E>): Promise<A> {
    const exit = await this.run(effect)
    if (exit === undefined || !Exit.isSuccess(exit)) throw new Error(`what has to succeed does not: ${String(exit)}`)
    return exit.value
  }

  /** Begins an Effect; returns the look at its result. */
  ask<A, E>(effect: Effect.Effect<A, E>, then: (exit: Exit.Exit<A, E>) => void = () => {}): () => Exit.Exit<A, E> | undefined {
    let answer: Exit.Exit<A, E> | undefined
    void Effect.runPromiseExitWith(this.clock.context)(effect).then((exit) => {
      answer = exit
      this.events++
      then(exit)
    })
    return () => answer
  }

  /** The space of this number at its host, which is started if it is down. */
  async space(number: number): Promise<Space | undefined> {
    const at = number % this.names.length
    const host = present(this.homes[at])
    if (this.host(host).kernel === undefined) await this.boot(host)
    const exit = await this.run(present(this.host(host).kernel).space(present(this.names[at])))
    return exit !== undefined && Exit.isSuccess(exit) ? exit.value : undefined
  }

  /** The door of the host of a space. */
  door(number: number): Door.Door | undefined {
    return this.host(present(this.homes[number % this.names.length])).door
  }

  /** Gives a new space the cells that programs expect. */
  async furnish(number: number): Promise<void> {
    const space = await this.space(number)
    if (space === undefined) return
    await this.run(space.set("/data/links/0", Link.make("/data/log/value/0")))
    await this.run(space.set(Derived.SELF, space.name))
  }

  /** Removes a space with all that the world knows of it, and makes a new one of its name. */
  async renew(number: number): Promise<void> {
    const space = await this.space(number)
    if (space === undefined) return
    this.copies.forget(space.name)
    await this.remove(space.name)
    this.rollbacks.set(space.name, this.step)
    await this.furnish(number)
  }

  /** Removes a space with all that the world knows of it. */
  async remove(name: string): Promise<void> {
    for (const { id, space } of this.acknowledged) if (space === name) this.touched.add(id)
    this.renewals.set(name, this.bank.attempts.length)
    this.deliveries.forget(name)
    this.gated.delete(name)
    for (const key of Array.from(this.cancelled.keys())) if (key.startsWith(`${name} `)) this.cancelled.delete(key)
    this.acknowledged = this.acknowledged.filter(({ space }) => space !== name)
    const home = this.homes[this.names.indexOf(name)]
    const { kernel } = this.host(home ?? 0)
    if (kernel !== undefined) await this.run(kernel.remove(name))
    this.disk.forget(name)
  }

  /** Follows the value at an address, until its stream ends. */
  follow(space: Space, address: string, after: number | undefined): Effect.Effect<void, unknown> {
    const host = present(this.homes[this.names.indexOf(space.name)])
    const follower: Follower = { space: space.name, address, host, life: this.host(host).life, seen: [], isOver: false }
    this.followers.push(follower)
    return Stream.runForEach(space.watch(address, { after }), (seen) => Effect.sync(() => void follower.seen.push(seen))).pipe(
      Effect.ensuring(Effect.sync(() => void (follower.isOver = true)))
    )
  }

  /** The followers with streams that go on. */
  get following(): ReadonlyArray<Follower> {
    return this.followers.filter(({ host, isOver, life }) => !isOver && this.host(host).life === life)
  }

  /** Ends the process of a host at once, as a power cut does. */
  kill(host: number): void {
    const dead = this.host(host)
    dead.life++
    this.deliveries.lose()
    dead.wakes.clear()
    for (const tell of dead.ends.splice(0)) tell()
    Object.assign(dead, { kernel: undefined, door: undefined, scope: undefined, dreams: undefined })
  }

  /** Ends the process of a host in good order. */
  async stop(host: number): Promise<void> {
    const { scope } = this.host(host)
    if (scope !== undefined) await this.run(Scope.close(scope, Exit.void))
    this.kill(host)
  }

  /** Starts a process on a host. */
  async boot(host: number): Promise<void> {
    const own = this.host(host)
    const life = ++own.life
    const isOver = (): boolean => own.life !== life
    const owns = (space: string): boolean => this.homes[this.names.indexOf(space)] === host
    const scope = Effect.runSync(Scope.make())
    const awake = (run: () => void): void => {
      if (!isOver()) void (own.dreams === undefined ? run() : own.dreams.push(() => awake(run)))
    }
    const turn = (run: () => void): void => {
      this.events++
      this.turns.push(() => awake(run))
    }
    const layer = Layer.fresh(TestRuntime.layer({
      settings: WorldSettings.of(this.plan),
      hash: HashLayer.layer,
      persistence: Layer.succeed(Persistence, this.disk.over(this.memory, { isOver, turn, owns })),
      pacemaker: Layer.succeed(Pacemaker, Hosts.pacemaker(own, { clock: this.clock, random: this.random, turn, awake })),
      reactor: Reactor.native([this.bank.channel(awake)])
    })).pipe(Layer.provide([
      this.clock.layer,
      Layer.succeed(RemotePeers, this.remote),
      Layer.succeed(ModuleRestore, this.code.restore),
      granted
    ]))
    const exit = await this.run(Layer.buildWithScope(layer, scope))
    if (exit === undefined || !Exit.isSuccess(exit)) throw new Error(`host ${host} does not start: ${String(exit)}`)
    const kernel = Context.get(exit.value, Kernel)
    const hash = Context.get(exit.value, Hash)
    const door = Door.make({ kernel, hash, clock: this.clock.layer, wrong: (text) => void this.wrong.push(text) })
    Object.assign(own, { kernel, door, scope })
    await this.code.enroll(kernel)
    // A host opens the spaces of its schedules, so it has those of its own spaces alone.
    const spaces = this.names.filter(owns)
    if (this.plan.hasSchedule && spaces.length > 0) {
      await this.must(kernel.register(Clockwork.enzyme(spaces, { count: (kind) => this.count(kind) })))
    }
    await this.run(kernel.resume)
  }

  /** Puts a version of a node in the place of the present one, on all hosts. */
  swap(node: number, version: number | undefined): Promise<void> {
    return this.code.swap(this.kernels, node, version)
  }

  /** Puts a version of an enzyme, or its absence, in the place of the present one, on all hosts. */
  deploy(name: string, version: Deployed): Promise<void> {
    return this.code.deploy(this.kernels, name, version)
  }

  /** The kernels of the hosts that are up. */
  get kernels(): ReadonlyArray<Kernel["Service"]> {
    return this.hosts.flatMap(({ kernel }) => kernel ?? [])
  }

  /** The versions of the derived nodes; `undefined` for one that is absent. */
  get versions(): Derived.Versions {
    return this.code.versions
  }
}
