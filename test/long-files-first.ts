import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Short files that take long, as what they run stands elsewhere, or as they wait. On a clean clone, where no times are known,
 * vitest begins with the largest files: these would come last, and the very last one would have the machine to itself.
 */
export const LONG = [
  'test/scenarios/on-three-planes.servers.test.ts',
  'storage/mongo/store.servers.test.ts',
  'test/scenarios/pages.servers.test.ts',
  'test/scenarios/planes-end.servers.test.ts',
  'test/scenarios/approvals-on-planes.servers.test.ts',
  'test/scenarios/leadership.servers.test.ts',
  'test/web/every-page.web.test.ts',
  'test/web/first-tasks.web.test.ts',
  'test/natlab/outages.lab.test.ts',
  'test/natlab/ports.lab.test.ts',
  'test/natlab/paths.lab.test.ts',
].map((file) => path.resolve(file));

export default class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project);
    // Files of one project follow each other, since they share processes.
    return [...projects.values()].flatMap((own) => own.toSorted((a, b) => placeOf(a) - placeOf(b)));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = LONG.indexOf(moduleId);
  return place === -1 ? LONG.length : place;
}
