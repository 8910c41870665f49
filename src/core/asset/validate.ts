import type { Result } from '../result.ts';
import type { DependencyGroup } from './group.ts';
export declare const groupFromDeclaration: (raw: unknown) => Result<DependencyGroup>;
