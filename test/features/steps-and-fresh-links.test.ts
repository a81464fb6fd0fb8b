import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBlocks } from '../../sandbox/slack/block-validation.ts';
import { stepsView } from '../../src/features/steps-and-fresh-links.ts';
import type { ViewBlock } from '../../src/render/blocks/modal.ts';
import { furtherSourceBlocks } from '../../src/render/messages/sources.ts';
import type { ToolStep } from '../../src/render/messages/tool-steps.ts';
import { noSteps } from '../../src/render/strings/index.ts';

const turnId = '01a1fbfe-6e3a-7000-83e3-5e284a624414';

function many(count: number): ToolStep[] {
  return Array.from({ length: count }, (_, index) => ({
    name: 'Run python',
    summary: `part ${index}`,
    input: `print(${index})`,
    output: index % 2 === 0 ? String(index) : undefined,
  }));
}

/** A page as Slack takes it, as text. */
function shown(steps: ToolStep[], page = 0, furtherSources: ViewBlock[] = []): string {
  const view = stepsView(steps, furtherSources, { turnId, page });
  if (typeof view === 'string') return view;
  expect(view.title.text.length).toBeLessThanOrEqual(24);
  expect(JSON.stringify(view).length).toBeLessThan(200_000);
  return JSON.stringify(checkBlocks(view.blocks, 'modal'));
}

describe('the steps of a turn', () => {
  test('are shown with number, name, input and output', () => {
    const text = shown(many(2));
    for (const part of ['1. Run python: part 0', 'print(0)', 'Output', 'No output.'])
      expect(text).toContain(part);
    expect(text).not.toContain('steps_page');
  });

  test('are paged by tens, and every step is on one page', () => {
    const steps = many(34);
    const pages = [0, 1, 2, 3].map((page) => shown(steps, page));
    for (const [index] of steps.entries()) {
      expect(pages.filter((page) => page.includes(`"${index + 1}. Run python: part ${index}"`))).toHaveLength(
        1,
      );
    }
    expect(pages[1]).toContain('11 to 20 of 34');
    expect(pages.map((page) => (page.match(/"action_id":"steps_/g) ?? []).length)).toEqual([1, 2, 2, 1]);
    expect(shown(steps, 99)).toBe(pages[3]);
  });

  test('end with the sources that the answer has no room for, also without any step', () => {
    const links = Array.from({ length: 100 }, (_, at) => `https://www.nature.com/${'a'.repeat(400)}/${at}`);
    const further = furtherSourceBlocks([{ kind: 'text', text: links.join(' ') }]);
    const pages = [0, 1, 2].map((page) => shown(many(21), page, further));
    expect(pages.map((page) => page.includes('Further sources'))).toEqual([false, false, true]);
    expect(shown([], 0, further)).toContain('100. ');
    expect(shown([], 0)).toBe(noSteps);
  });

  test('fit Slack, whatever their content', () => {
    const step = fc.record({
      name: fc.string({ minLength: 1, maxLength: 61 }),
      summary: fc.string({ maxLength: 90 }),
      input: fc.string({ maxLength: 1_200 }),
      output: fc.option(fc.string({ maxLength: 1_200 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.nat(3), (steps, page) => {
        expect(shown(steps, page)).not.toBe('[]');
      }),
      { numRuns: 40 },
    );
  });

  test('are replaced by a sentence if there are none', () => {
    expect(shown([])).toContain('no tools');
  });
});
