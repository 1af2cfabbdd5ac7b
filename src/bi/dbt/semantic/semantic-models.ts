import type { BiFile } from '../../files/bi-target.ts';
import { type Yaml, yamlText } from '../../files/yaml.ts';
import { allMeasures, type Measure, measureYaml } from './measures.ts';
import { type SemanticRows, semanticRows } from './model.ts';

/** The semantic models: one for each model of the package that metrics are computed from. */
export function semanticModelFile(): BiFile {
  const models = new Map<string, { readonly rows: SemanticRows; readonly measures: Measure[] }>();
  for (const measure of allMeasures()) {
    const rows = semanticRows(measure.source);
    const known = models.get(rows.model) ?? { rows, measures: [] };
    known.measures.push(measure);
    models.set(rows.model, known);
  }
  const document: Yaml = {
    version: 2,
    semantic_models: [...models.values()].map(({ rows, measures }) => semanticModel(rows, measures)),
  };
  return { path: 'models/semantic/semantic_models.yml', text: yamlText(document) };
}

function semanticModel(rows: SemanticRows, measures: readonly Measure[]): Yaml {
  const { model, row, hasUsers, hasTeams, dimensions } = rows;
  return {
    name: `${row}s`,
    model: `ref('${model}')`,
    defaults: { agg_time_dimension: 'date' },
    primary_entity: row,
    entities: [
      { name: 'organization', type: 'foreign', expr: 'org_id' },
      ...(hasUsers ? [{ name: 'user_id', type: 'foreign' }] : []),
      ...(hasTeams ? [{ name: 'team', type: 'foreign' }] : []),
    ],
    dimensions: [
      { name: 'date', type: 'time', type_params: { time_granularity: 'day' } },
      ...Object.entries(dimensions).map(([name, expr]) => ({ name, type: 'categorical', expr })),
    ],
    measures: measures.map(measureYaml),
  };
}
