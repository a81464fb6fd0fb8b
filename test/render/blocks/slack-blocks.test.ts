import { expect, test } from 'vitest';
import { contextLineBlock } from '../../../src/render/blocks/slack-blocks.ts';

test('a context line is plain text that pings nobody', () => {
  expect(contextLineBlock('*a* <@U1>')).toEqual({
    type: 'context',
    elements: [{ type: 'plain_text', text: '*a* <\u2060@U1>', emoji: false }],
  });
});
