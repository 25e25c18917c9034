import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Problem } from '../../api/problem.ts';
import { waiting } from '../../api/waiting.ts';
import { holds, may, workspaceId } from '../../api/workspace.ts';
import { ago, DAY_MS } from '../../time/moment.ts';
import { Page } from '../../ui/page.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { AgentsAtWork } from './agents-at-work.tsx';
import { Decided } from './decided.tsx';
import './home.css';
import { SetupLine } from './setup-line.tsx';
import { ChangesTile, ComplianceTile, PeersTile, WaitingTile } from './tiles.tsx';
import { Waiting } from './waiting.tsx';
import { Warnings } from './warnings.tsx';

/** What a person sees first. Each part is asked for by itself and drawn as it comes. */
export default function Home() {
  return <Page title="Home">{may('network:read') && <Parts />}</Page>;
}

/** As many as tell the last days. */
const WORKFLOWS = 40;
/** Enough for the newest of each framework. */
const ASSESSMENTS = 30;
const WEEK_MS = 7 * DAY_MS;

function Parts() {
  const overview = useLoaded(() => {
    workspaceId.value;
    return answer(api.GET('/api/v1/overview'));
  });
  const counted = useLoaded(async () => {
    workspaceId.value;
    const [day, week] = await Promise.all([listedSince(DAY_MS), listedSince(WEEK_MS)]);
    const today = day ?? (await answer(api.GET('/api/v1/changes/count', { params: { query: { from: ago(DAY_MS) } } })));
    return { today, week };
  });
  const workflows = useLoaded(() => {
    workspaceId.value;
    return answer(api.GET('/api/v1/workflows', { params: { query: { limit: WORKFLOWS } } }));
  });
  const assessments = useLoaded(
    async () => {
      workspaceId.value;
      if (!may('compliance:assess')) return undefined;
      const query = { limit: ASSESSMENTS };
      return optional(answer(api.GET('/api/v1/ai/compliance/assessments', { params: { query } })));
    },
    { live: false },
  );
  return (
    <>
      <ReadResult of={overview.value} loading="">
        {(value) => (
          <>
            <Warnings warnings={value.warnings} />
            <SetupLine overview={value} />
          </>
        )}
      </ReadResult>
      <div class="tiles">
        <ReadResult of={overview.value}>{(value) => <PeersTile overview={value} />}</ReadResult>
        <ReadResult of={waiting.value} loading="">
          {() => (
            <ReadResult of={workflows.value} loading="">
              {({ items }) => <WaitingTile workflows={items} />}
            </ReadResult>
          )}
        </ReadResult>
        <ReadResult of={counted.value}>{(value) => <ChangesTile {...value} />}</ReadResult>
        <ReadResult of={assessments.value} loading="">
          {(value) => value && <ComplianceTile assessments={value.items} />}
        </ReadResult>
      </div>
      <Waiting />
      <div class="home">
        <ReadResult of={workflows.value}>{({ items }) => <Decided workflows={items} />}</ReadResult>
        <AgentsAtWork />
      </div>
    </>
  );
}

/** The changes of a range up to now, as far as the person and the edition have the Time page. */
async function listedSince(ms: number) {
  if (!holds('snapshots:read')) return undefined;
  return optional(answer(api.GET('/api/v1/changes', { params: { query: { from: ago(ms), limit: 1 } } })));
}

/** Undefined where the edition has none of it. */
async function optional<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof Problem && error.code === 'edition_required') return undefined;
    throw error;
  }
}
