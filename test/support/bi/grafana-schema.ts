import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../structure/sources.ts';
import { scratchFolder } from '../suite/scratch-folder.ts';

/** True if the types of Grafana are installed. */
export const HAS_SCHEMA = existsSync(join(ROOT, 'node_modules/@grafana/schema'));

/** Why tests are skipped without them. */
export const NO_SCHEMA = 'no @grafana/schema: npm ci installs it';

const PANEL_TYPES = 'dist/esm/raw/composable';

/** The type of a dashboard whose panels have the options of their kinds. In JSON, a value of an enumeration is its text. */
const HEAD = `
import type { Dashboard, Panel } from '@grafana/schema';
import type * as bars from '@grafana/schema/${PANEL_TYPES}/barchart/panelcfg/x/BarChartPanelCfg_types.gen';
import type * as stat from '@grafana/schema/${PANEL_TYPES}/stat/panelcfg/x/StatPanelCfg_types.gen';
import type * as table from '@grafana/schema/${PANEL_TYPES}/table/panelcfg/x/TablePanelCfg_types.gen';
import type * as lines from '@grafana/schema/${PANEL_TYPES}/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

type Written<T> = T extends string ? \`\${T}\` : T extends object ? { [K in keyof T]: Written<T[K]> } : T;
type Field = NonNullable<NonNullable<Panel['fieldConfig']>['defaults']>;
type Override = { matcher: { id: 'byName'; options: string }; properties: { id: string; value: unknown }[] };
type Of<Type, Options, Custom> = Omit<Panel, 'type' | 'options' | 'fieldConfig'> & {
  type: Type;
  title: string;
  description: string;
  options: Options;
  fieldConfig: { defaults: Omit<Field, 'custom'> & { custom?: Custom }; overrides: Override[] };
};
type Known =
  | Of<'timeseries', lines.Options, lines.FieldConfig>
  | Of<'stat', stat.Options, never>
  | Of<'barchart', bars.Options, bars.FieldConfig>
  | Of<'table', Omit<table.Options, 'frameIndex'>, Partial<table.FieldConfig>>;

export const dashboard: Written<Omit<Dashboard, 'panels'> & { panels: Known[] }> = `;

const CONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: 'ES2023',
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    types: [],
  },
  include: ['*.ts'],
};

/**
 * Compiles texts of dashboards as values of Grafana's own types.
 * @param texts JSON by a name
 * @returns the complaints of the compiler, each with the name of its text
 */
export async function complaintsAbout(texts: ReadonlyMap<string, string>): Promise<string[]> {
  const folder = mkdtempSync(join(scratchFolder(), 'daywalk-grafana-'));
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG));
    for (const [name, text] of texts) writeFileSync(join(folder, `${name}.ts`), `${HEAD}${text};\n`);
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    await promisify(execFile)(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], { cwd: folder });
    return [];
  } catch (error) {
    const { stdout } = error as { readonly stdout?: string };
    if (stdout === undefined || stdout === '') throw error;
    return stdout.split('\n').filter((line) => /error TS/.test(line));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
