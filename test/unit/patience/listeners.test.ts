import { expect, test } from 'vitest';
import { createPatience } from '../../../src/patience/patience.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';

const HOSTS = ['https://api.example.com', 'https://app.example.com'];

/** Two hosts fail, one after the other, and answer the second probe. Listeners note what they hear. */
async function waitForBoth(fails: { begins?: boolean; ends?: boolean }) {
  const clock = new FakeClock({ auto: true });
  const patience = createPatience({ patienceMs: 60_000, known: HOSTS, clock });
  const heard: string[] = [];
  const failing = (is = false) => {
    if (is) throw new Error('the warehouse is locked');
  };
  patience.listen({ begins: () => failing(fails.begins), ends: () => failing(fails.ends) });
  patience.listen({
    url: `${HOSTS[0]}/v1`,
    begins: ({ host }) => void heard.push(`begins ${host}`),
    ends: ({ host }) => void heard.push(`ends ${host}`),
  });
  const ended = [];
  for (const host of HOSTS) {
    const sentMs = clock.monotonicMs();
    patience.record(host, { path: '/', sentMs, outcome: 'failed' });
    let probes = 0;
    const probe = async () => (probes++ === 0 ? 0 : null);
    const request = {
      sinceMs: sentMs,
      path: '/',
      signal: new AbortController().signal,
      untilTurnMs: () => 0,
      probe,
    };
    ended.push(await patience.outlast(host, request).catch(String));
  }
  return { heard, ended };
}

test('who listens to one host hears of its waits, and of no other', async () => {
  expect(await waitForBoth({})).toEqual({
    heard: [`begins ${HOSTS[0]}`, `ends ${HOSTS[0]}`],
    ended: ['answered', 'answered'],
  });
});

test.each([{ begins: true }, { ends: true }])(
  'all listeners hear of a wait, also if one of them fails: %j',
  async (fails) => {
    expect(await waitForBoth(fails)).toEqual({
      heard: [`begins ${HOSTS[0]}`, `ends ${HOSTS[0]}`],
      ended: Array(2).fill('Error: the warehouse is locked'),
    });
  },
);
