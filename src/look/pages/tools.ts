import type { Filters } from '../data/filters.ts';
import type { PageReader } from '../data/reader.ts';
import { scopeOf } from '../data/scope.ts';
import { viewedGroups } from '../data/viewed-groups.ts';
import { artifactsFigure, readArtifacts } from '../figures/artifacts.ts';
import { headline } from '../figures/headline.ts';
import { hooksTable } from '../figures/hooks-table.ts';
import { comparison } from '../figures/opening.ts';
import type { Ranking } from '../figures/ranking.ts';
import { shareOf, wholeSumOf } from '../page/numbers.ts';
import type { Headline, Page, Phrase } from '../page/page.ts';
import { nounFor } from '../words/nouns.ts';
import { periodHeading } from '../words/spans.ts';
import { drawFigure, drawPair, type FigureSpec } from './draw-figure.ts';
import type { PageKind } from './page-kind.ts';

/** Which tools, servers, skills, commands and hooks were used. */
export const tools: PageKind = {
  path: '/tools',
  name: 'Tools',
  async build(reader) {
    const count = (metric: string, title: string) => headline(reader, { metric, title, format: 'compact' });
    const calls = await count('tool_calls', 'Tool calls');
    const others = [
      await count('mcp_calls', 'MCP calls'),
      await count('skill_calls', 'Skill calls'),
      await count('hooks', 'Hooks'),
    ];
    const artifacts = await readArtifacts(reader);
    const names = new Set(artifacts.rows.map((row) => String(row['tool'])));
    return {
      name: 'Tools',
      heading: `Tools, ${periodHeading(reader.filters)}`,
      sentence: await sentenceOf(reader, calls),
      sections: [
        { kind: 'headlines', headlines: [calls, ...others] },
        await drawPair(reader, PER_WEEK, invocations('mcp_invocations', SERVERS)),
        await drawPair(reader, toolsBut(names), invocations('slash_command_invocations', COMMANDS)),
        {
          kind: 'pair',
          figures: [
            await drawFigure(reader, invocations('skill_invocations', SKILLS)),
            artifactsFigure(reader, artifacts),
          ],
        },
        await hooksTable(reader),
      ],
      basis: calls.results[0]?.basis,
    } satisfies Page;
  },
};

const PER_WEEK: FigureSpec = {
  draw: 'bars',
  id: 'tools-per-week',
  title: 'Tools per week',
  unit: 'Invocations',
  metric: 'tool_invocations',
  by: 'tool',
  grain: 'week',
  format: 'count',
};
const TOOLS = { by: 'tool', id: 'tools', title: 'Tools', thing: 'Tool' } as const;
const SERVERS = { by: 'server', id: 'servers', title: 'MCP servers', thing: 'Server' } as const;
const SKILLS = { by: 'skill', id: 'skills', title: 'Skills', thing: 'Skill' } as const;
const COMMANDS = {
  by: 'slash_command',
  id: 'slash-commands',
  title: 'Slash commands',
  thing: 'Command',
} as const;

function invocations(
  metric: string,
  spec: Pick<Ranking, 'by' | 'id' | 'title' | 'thing' | 'nameCell'>,
): FigureSpec {
  return { draw: 'ranking', metric, unit: 'Invocations', amount: 'Invocations', format: 'count', ...spec };
}

/** The tools, with those muted whose names are no tools. */
function toolsBut(artifacts: ReadonlySet<string>): FigureSpec {
  const nameCell: Required<Ranking>['nameCell'] = ({ name, isOthers, members }) => ({
    kind: 'text',
    text: isOthers ? `${members.length} ${name}` : artifacts.has(name) ? `${name} (no tool)` : name,
    isMuted: isOthers || artifacts.has(name),
  });
  return invocations('tool_invocations', { ...TOOLS, nameCell });
}

/** Tool calls come from the rows of users, invocations from the organization: the words keep them apart. */
async function sentenceOf(reader: PageReader, calls: Headline): Promise<Phrase> {
  const { words, ...scope } = scopeOf(reader.filters, 'tool_invocations');
  const result = await reader.ask({ metric: 'tool_invocations', title: 'Tools', by: ['tool'], ...scope });
  const groups = viewedGroups(reader, result, { group: 'tool', format: 'count', most: 12 });
  const [first] = groups;
  const numbers = groups.map(({ total }) => total);
  return [
    ...callsOf(calls, reader.filters),
    ...(first === undefined || first.isOthers
      ? []
      : [
          ` ${first.name} was used most, with `,
          shareOf(first.total, wholeSumOf(numbers, 'count')),
          ` of all invocations of tools${words === '' ? '' : ' in the whole organization'}.`,
        ]),
  ];
}

function callsOf(calls: Headline, filters: Filters): Phrase {
  const { number } = calls;
  if (number.value === null) return ['No day of this period is stored, so no tool call is known.'];
  return [
    { kind: 'strong', parts: [number, nounFor(number, ' tool call', ' tool calls')] },
    ...comparison(calls, filters, 'fewer'),
    '.',
  ];
}
