/**
 * Cells and signals in components of React: all of `systole/react`.
 *
 * @module
 */
export type { CellState } from "./CellStream.ts"
export { type CellOptions, type SignalState, type SpaceProps, SpaceProvider, useCell, useSignal, useSpace } from "./Hooks.ts"
