import { expect, onTestFinished, test } from 'vitest';
import { Deliveries } from '../../../sandbox/slack/deliveries.ts';

const transport = { deliver: async () => ({ acked: true }) as const, goDeaf: () => () => undefined };

test('a workspace in which something always begins before the last has ended settles, too', async () => {
  const deliveries = new Deliveries(transport, 1);
  onTestFinished(() => deliveries.stop());
  let begun = 0;
  const goOn = () => {
    begun += 1;
    deliveries.track(async () => {
      await deliveries.wait(5);
      goOn();
    });
  };
  goOn();
  await deliveries.settled();
  expect(begun).toBeGreaterThan(1);
});
