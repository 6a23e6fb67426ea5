/**
 * The names of spaces.
 *
 * @module
 */
const spaceName = /^[a-z0-9][a-z0-9-]{0,62}$/

/**
 * Whether a text is a valid name of a space.
 */
export const isSpaceName = (text: string): boolean => spaceName.test(text)
