/** Stands in for node:crypto: random ids come from the simulation. */
import { currentIfAny } from '../simulation.js';
export * from 'node:crypto';

export function randomUUID(): string {
  const digits = Array.from({ length: 32 }, () => (currentIfAny()?.random.between(0, 15) ?? 0).toString(16)).join('');
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}
