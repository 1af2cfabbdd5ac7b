import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/serve/metrics/metrics.ts';
import { soundSettings } from '../../../src/settings/read-settings.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { seriesIn } from '../../support/monitoring/read-metrics.ts';
import { createOrganizationsRig, NOW } from '../../support/organizations/organizations-rig.ts';
import { serveHere } from '../../support/serve/service-in-process.ts';
import { startService } from '../../support/serve/service-process.ts';
import { read } from '../../support/settings/read-settings.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const EXIT_CODES = 'daywalk_last_run_exit_code';

function valuesOf(text: string, metric: string): Record<string, number> {
  const own = [...seriesIn(text)].filter(([name]) => name.startsWith(`${metric}{`));
  return Object.fromEntries(own.map(([name, value]) => [/organization="([^"]*)"/.exec(name)?.[1], value]));
}

describe('a service of several organizations', () => {
  it('has the metrics of each, also of one whose key is refused', { tags: 'ci/rare' }, async () => {
    const rig = await createOrganizationsRig(['refused', 'fine'], sqlite);
    rig.writeKey('0.key', 'sk-revoked-000');
    const service = await startService({
      DAYWALK_ORGANIZATIONS: rig.file,
      DAYWALK_WAREHOUSE: rig.place.location,
      DAYWALK_NOW: NOW,
      DAYWALK_ATTEMPTS: '1',
    });
    await service.logged('round-ended');
    const { text } = await service.get('/metrics');
    expect(valuesOf(text, EXIT_CODES)).toEqual({ refused: 3, fine: 0 });
    expect(valuesOf(text, 'daywalk_holes')).toEqual({ refused: 7, fine: 0 });
    expect(await service.get('/healthz')).toEqual({
      status: 503,
      text: 'unhealthy: refused: the last run ended with exit code 3\n',
    });
    expect((await service.get('/livez')).status).toBe(200);
    service.child.kill('SIGTERM');
    await service.ended;
  });

  it('uses a new key and exports a new organization in the next round, without a restart', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await createOrganizationsRig(['rotated', 'fine', 'new'], sqlite);
    rig.list(rig.entries.slice(0, 2));
    rig.writeKey('0.key', 'sk-revoked-000');
    const env = { DAYWALK_ORGANIZATIONS: rig.file, DAYWALK_WAREHOUSE: rig.place.location };
    const readNow = () => ({ ...soundSettings(read({ env })), attempts: 1 });
    let settings = readNow();
    const clock = new FakeClock({ now: NOW, auto: true });
    const metrics = createMetrics({ clock, settings: () => settings });
    const seen: Record<string, number>[] = [];
    const service = await serveHere(
      { settings },
      {
        clock,
        schedule: '*/20 * * * *',
        readSettings: () => {
          settings = readNow();
          return settings;
        },
        metricsText: ({ warehouse }) => metrics.text(warehouse),
        listeners: [
          metrics.listener,
          {
            end: async () => {
              const response = await fetch(new URL('/metrics', service.url));
              seen.push(valuesOf(await response.text(), EXIT_CODES));
              rig.writeKey('0.key', rig.emulators[0]?.apiKey ?? '');
              rig.list(rig.entries);
              if (seen.length === 2) void service.stop();
            },
          },
        ],
      },
    );
    await service.ended;
    expect(seen).toEqual([
      { rotated: 3, fine: 0 },
      { rotated: 0, fine: 0, new: 0 },
    ]);
  });
});
