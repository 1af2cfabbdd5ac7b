export { createPatience, type Outlasted, type Patience, type Wait, type WaitListener } from './patience.ts';
