/** The declarations of the warehouse, rendered for readers and for tools. */
export { schemaDocument } from './reference/document.ts';
export { type ExampleQuery, exampleQueries } from './reference/examples.ts';
export { schemaMarkdown } from './reference/markdown.ts';
export { type MetricExample, metricExamples } from './reference/metric-examples.ts';
export { metricsMarkdown } from './reference/metrics-markdown.ts';
export {
  commandOf,
  isMetricCall,
  type MetricCall,
  type Question,
  questions,
} from './reference/questions.ts';
export { DATABASES, DISTRIBUTIONS, schemaSql } from './reference/sql.ts';
