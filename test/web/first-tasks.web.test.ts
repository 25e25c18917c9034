import { describe } from 'vitest';
import { hasBrowser } from '../kits/web/dashboard.ts';
import { firstTasks } from '../kits/web/first-tasks.ts';

describe.skipIf(!hasBrowser).each(['mouse', 'keyboard'] as const)('ten first tasks by %s', firstTasks);
