import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { listen } from '../../../src/core/web-server.ts';

test('600 connections that never send a request keep nobody out', { tags: 'ci/rare' }, async () => {
  const server = await listen({ host: '127.0.0.1', port: 0 }, systemClock());
  onTestFinished(() => server.close());
  server.handle((_, response) => void response.end('alive'));
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  let ended = 0;
  for (let n = 0; n < 600; n += 1) {
    const socket = connect(server.address.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.on('close', () => {
      ended += 1;
    });
    socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n');
    sockets.push(socket);
  }
  await expect.poll(() => ended).toBe(600 - 256);
  const answer = await fetch(`${server.url}/livez`);
  expect([answer.status, await answer.text()]).toEqual([200, 'alive']);
  // It took the place of the oldest one.
  await expect.poll(() => ended).toBe(600 - 255);
});
