/** The running order of mappings. */
import { describe, expect, it } from 'vitest';
import { cycleOf, stagesOf } from '../../src/mapping/order/stages.js';

const node = (name: string, ...refs: string[]) => ({ name, refs });

describe('the order of mappings', () => {
  it('sends parents before children, whatever the order of the files', () => {
    const mappings = [node('lines', 'orders'), node('orders', 'customers'), node('customers'), node('articles')];
    expect(stagesOf(mappings)).toEqual([['articles', 'customers'], ['orders'], ['lines']]);
    expect(stagesOf(mappings.toReversed())).toEqual([['articles', 'customers'], ['orders'], ['lines']]);
  });

  it('puts a child after the last of its parents', () => {
    expect(stagesOf([node('a'), node('b', 'a'), node('c', 'a', 'b')])).toEqual([['a'], ['b'], ['c']]);
  });

  it('ignores parents that are not part of the run', () => {
    expect(stagesOf([node('orders', 'customers')])).toEqual([['orders']]);
  });

  it('names a cycle, and plans nothing that depends on it', () => {
    const mappings = [node('a', 'b'), node('b', 'c'), node('c', 'b'), node('d')];
    expect(stagesOf(mappings)).toEqual([['d']]);
    expect(cycleOf(mappings)).toEqual(['b', 'c', 'b']);
    expect(cycleOf([node('a', 'a')])).toEqual(['a', 'a']);
    expect(cycleOf([node('a'), node('b', 'a')])).toBeNull();
  });
});
