import { expect, test } from 'vitest';
import type { Action } from '../../../src/emulator/faults/action.ts';
import { type Probe, pathOf, probe } from '../../support/emulator/probe.ts';
import { rawGet } from '../../support/emulator/raw-get.ts';

const PATH = pathOf('users', '2026-02-03');

async function withFault(action: Action | readonly Action[]): Promise<Probe> {
  return probe({ rules: [{ id: 'fault', action }] });
}

function expectFired(at: Probe, status: number | null): void {
  const { rules, recent } = at.emulator.journal();
  expect(rules).toEqual([{ id: 'fault', matches: 1, firings: 1, missed: 0 }]);
  expect(recent).toMatchObject([{ method: 'GET', rule: 'fault', status, role: 'owner' }]);
  expect(recent[0]?.ms).toBeGreaterThan(0);
}

/** The journal learns of the end of a connection a moment after the client. */
async function settled(at: Probe): Promise<void> {
  for (let i = 0; i < 6_000 && at.emulator.journal().inFlight > 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('hang sends no response', async () => {
  const at = await withFault({ type: 'hang' });
  const wire = await rawGet(at.emulator, PATH, 1_500);
  expect([wire.end, wire.bytes.length]).toEqual(['timeout', 0]);
  await settled(at);
  expectFired(at, null);
});

test('reset closes the connection before the headers', async () => {
  const at = await withFault({ type: 'reset' });
  const wire = await rawGet(at.emulator, PATH);
  expect([wire.end, wire.bytes.length]).toEqual(['reset', 0]);
  await settled(at);
  expectFired(at, null);
});

test('reset after bytes closes the connection within the body', async () => {
  const at = await withFault({ type: 'reset', afterBytes: 5 });
  const wire = await rawGet(at.emulator, PATH);
  // A client that read some bytes may see the reset as an ordinary end.
  expect(wire.end).not.toBe('timeout');
  expect(wire.body.length).toBeLessThanOrEqual(5);
  await expect(at.get(PATH)).rejects.toThrow();
  at.emulator.resetJournal();
  await rawGet(at.emulator, PATH);
  await settled(at);
  expectFired(at, 200);
});

test.each([0, 1, 100, 5_000])('cut after %d bytes sends less than the announced length', async (bytes) => {
  const at = await withFault({ type: 'cut', bytes });
  const wire = await rawGet(at.emulator, PATH);
  const promised = Number(/content-length: (\d+)/.exec(wire.head)?.[1]);
  expect([wire.end, wire.body.length]).toEqual(['fin', bytes]);
  expect(promised).toBeGreaterThan(5_000);
  await expect(at.get(PATH)).rejects.toThrow();
  at.emulator.setRules([]);
  expect((await at.get(PATH)).text.length).toBe(promised);
});

test('cut without a length looks like a complete response', async () => {
  const at = await withFault({ type: 'cut', bytes: 100, framing: 'close' });
  const wire = await rawGet(at.emulator, PATH);
  expect(wire.head).not.toMatch(/content-length|transfer-encoding/);
  expect([wire.end, wire.body.length]).toEqual(['fin', 100]);
  expect((await at.get(PATH)).text).toHaveLength(100);
});

test('cut in chunked framing ends within a chunk', async () => {
  const at = await withFault({ type: 'cut', bytes: 100, framing: 'chunked' });
  const wire = await rawGet(at.emulator, PATH);
  expect(wire.head).toContain('transfer-encoding: chunked');
  expect(wire.body.toString()).toMatch(/^[0-9a-f]{4}\r\n\{"data":/);
  await expect(at.get(PATH)).rejects.toThrow();
});

test('drip sends the whole body piece by piece', async () => {
  const at = await withFault({ type: 'drip', bytes: 2_500, intervalMs: 30 });
  const started = performance.now();
  const dripped = await at.get(PATH);
  expect(performance.now() - started).toBeGreaterThan(80);
  expectFired(at, 200);
  at.emulator.setRules([]);
  expect(dripped.text).toBe((await at.get(PATH)).text);
});

test('a drip ends when the client disconnects', async () => {
  const at = await withFault({ type: 'drip' });
  const wire = await rawGet(at.emulator, PATH, 1_500);
  expect(wire.end).toBe('timeout');
  expect(wire.body.length).toBeGreaterThanOrEqual(2);
  // Ten a second at most.
  expect(wire.body.length).toBeLessThan(20);
  await settled(at);
  expect(at.emulator.journal().inFlight).toBe(0);
});

test('delay waits before the response', async () => {
  const at = await withFault({ type: 'delay', ms: 120 });
  const started = performance.now();
  expect((await at.get(PATH)).status).toBe(200);
  expect(performance.now() - started).toBeGreaterThan(115);
  expectFired(at, 200);
});

test('close ends the connection after the answer, with announced also by a header', async () => {
  const at = await withFault({ type: 'close' });
  const silent = await rawGet(at.emulator, PATH);
  expect([silent.end, /connection: keep-alive/i.test(silent.head)]).toEqual(['fin', true]);
  expect(JSON.parse(silent.body.toString()).meta.org_id).toBe(at.emulator.orgId);
  await settled(at);
  expectFired(at, 200);
  at.emulator.setRules([{ action: { type: 'close', announced: true } }]);
  const announced = await rawGet(at.emulator, PATH);
  expect([announced.end, /connection: close/i.test(announced.head)]).toEqual(['fin', true]);
  at.emulator.setRules([]);
  expect((await rawGet(at.emulator, PATH, 1_500)).end).toBe('timeout');
});

test('the quirk keepAlive false ends every connection in the same way', async () => {
  const at = await probe({ quirks: { keepAlive: false } });
  const wire = await rawGet(at.emulator, PATH);
  expect([wire.end, /connection: keep-alive/i.test(wire.head)]).toEqual(['fin', true]);
});

test('raw sends any bytes', async () => {
  const at = await withFault({ type: 'raw', text: 'SSH-2.0-OpenSSH_9.9\r\n' });
  expect((await rawGet(at.emulator, PATH)).bytes.toString()).toBe('SSH-2.0-OpenSSH_9.9\r\n');
  await settled(at);
  expectFired(at, null);
  at.emulator.setRules([{ action: { type: 'raw', base64: Buffer.from([0, 255, 1]).toString('base64') } }]);
  expect([...(await rawGet(at.emulator, PATH)).bytes]).toEqual([0, 255, 1]);
});

test('a malformed status line and oversized headers are on the wire, and no client accepts them', async () => {
  const at = await withFault({ type: 'malformed-status-line' });
  expect((await rawGet(at.emulator, PATH)).head).toMatch(/^HTTP\/1\.1 two hundred\r\n/);
  await expect(at.get(PATH)).rejects.toThrow();
  at.emulator.setRules([{ action: { type: 'oversized-headers', bytes: 300_000 } }]);
  expect((await rawGet(at.emulator, PATH)).head.length).toBeGreaterThan(300_000);
  await expect(at.get(PATH)).rejects.toThrow();
});

test('several actions apply in order: a delay, another status, the end of the connection', async () => {
  const at = await withFault([
    { type: 'delay', ms: 100 },
    { type: 'status', status: 503 },
    { type: 'close' },
  ]);
  const started = performance.now();
  const wire = await rawGet(at.emulator, PATH);
  expect(performance.now() - started).toBeGreaterThan(95);
  expect([wire.end, wire.head.split('\r\n')[0]]).toEqual(['fin', 'HTTP/1.1 503 Service Unavailable']);
});

test('closing the emulator destroys connections that wait for an answer, and may be repeated', async () => {
  const at = await probe({ rules: [{ action: { type: 'hang' } }] });
  const waiting = Promise.all([rawGet(at.emulator, PATH, 60_000), rawGet(at.emulator, PATH, 60_000)]);
  while (at.emulator.journal().inFlight < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  const started = performance.now();
  await Promise.all([at.emulator.close(), at.emulator.close()]);
  expect((await waiting).map(({ end }) => end)).not.toContain('timeout');
  expect(performance.now() - started).toBeLessThan(30_000);
  await expect(fetch(at.emulator.url)).rejects.toThrow();
});
