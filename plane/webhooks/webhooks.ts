import { asLeader, eachLedWorkspace, type Leader, SOLE_LEADER } from '../../core/base/leader.ts';
import type { Commit } from '../../core/base/ports.ts';
import { attemptDelivery } from '../../core/webhooks/attempt.ts';
import { queueEvents } from '../../core/webhooks/queue.ts';
import type { WebhookSender } from '../../core/webhooks/sender.ts';
import { removeOldDeliveries } from '../../core/webhooks/upkeep.ts';
import type { Services } from '../../core/workflow/services.ts';
import { type Job, type ObserveJob, startJobs } from '../jobs.ts';
import { type Leadership, soleLeadership } from '../leadership.ts';
import { every } from '../periodic.ts';
import { DueDeliveries, type DueDelivery } from './due.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** An attempt whose outcome could not be written is tried again after so long. */
const UNWRITTEN_MS = 5_000;

type WebhookServices = Pick<Services, 'store' | 'clock' | 'log' | 'keys' | 'settings'> & {
  readonly observe?: ObserveJob;
};

/** Queues events as they are committed, and sends what is due, of the workspaces that are led here. */
export function startWebhooks(
  services: WebhookServices,
  sender: WebhookSender,
  leadership: Pick<Leadership, 'leads' | 'under' | 'onChange'> = soleLeadership,
) {
  const { store, log } = services;
  const due = new DueDeliveries();
  const aborter = new AbortController();
  const flights = new Map<Promise<void>, DueDelivery>();
  const unsubscribe = store.onCommit((commit) => due.handle(commit));
  const sending = sendingJob(services, { due, leadership, begin });
  const queueing = queueingJob(services, leadership);
  // The next leader would send again what is under way.
  const unfollow = leadership.onChange(() => {
    queueing.sweep();
    return Promise.all(
      [...flights].flatMap(([flight, { workspace }]) => (leadership.leads(workspace) ? [] : [flight])),
    );
  });
  const jobs = startJobs(
    [
      queueing.job,
      sending.job,
      every('remove old webhook deliveries', HOUR_MS, services, () =>
        eachLedWorkspace(leadership, services, (workspace, led) => removeOldDeliveries(led, workspace)),
      ),
    ],
    { ...services, leadership },
  );

  function begin(delivery: DueDelivery): void {
    const flight = asLeader(leadership, services, delivery.workspace, (led) =>
      attemptDelivery(led, sender, delivery, aborter.signal),
    )
      .catch((error: unknown) => {
        if (aborter.signal.aborted) return;
        log.error(
          { err: error, workspace: delivery.workspace },
          'what came of a webhook delivery could not be written',
        );
        sending.pauseUntil(services.clock.now() + UNWRITTEN_MS);
      })
      .finally(() => {
        flights.delete(flight);
        due.landed(delivery);
        jobs.wake(sending.job.name);
      });
    flights.set(flight, delivery);
  }

  return {
    /** Gives up the deliveries in flight: they are tried again after the next start. */
    async stop(): Promise<void> {
      aborter.abort();
      await jobs.stop();
      await Promise.all(flights.keys());
      unsubscribe();
      unfollow();
    },
  };
}

/** Looks at the logs of all workspaces at first and each minute, and at once at one that was written to. */
function queueingJob(services: Pick<Services, 'store' | 'clock' | 'settings'>, leading: Leader) {
  const { clock } = services;
  const written = new Set<string>();
  const from = new Map<string, number>();
  let nextSweepAt = 0;
  const job: Job = {
    name: 'queue webhook deliveries',
    wakeOn(commit) {
      if (commit.changes.every(isOwn)) return false;
      written.add(commit.workspace);
      return true;
    },
    async run() {
      if (clock.now() >= nextSweepAt) {
        nextSweepAt = clock.now() + MINUTE_MS;
        await eachLedWorkspace(leading, services, (workspace, led) => queueEvents(led, workspace, from));
      }
      const chosen = [...written];
      written.clear();
      for (const workspace of chosen) {
        await asLeader(leading, services, workspace, (led) => queueEvents(led, workspace, from));
      }
      return nextSweepAt;
    },
  };
  return {
    job,
    /** Has the next run look at all logs: others led some of them until now. */
    sweep() {
      nextSweepAt = 0;
    },
  };
}

/** A delivery that has left makes room for what waits in the log; one that is made or tried again does not. */
function isOwn({ type, record, before }: Commit['changes'][number]): boolean {
  if (record.kind !== 'WebhookDelivery') return false;
  const wasWaiting = before?.kind === 'WebhookDelivery' && before.status.state === 'waiting';
  return !(wasWaiting && (type === 'deleted' || record.status.state !== 'waiting'));
}

function sendingJob(
  services: Pick<Services, 'store' | 'clock'>,
  {
    due,
    leadership,
    begin,
  }: {
    readonly due: DueDeliveries;
    readonly leadership: Pick<Leadership, 'leads'>;
    readonly begin: (one: DueDelivery) => void;
  },
) {
  const { store, clock } = services;
  let isLoaded = false;
  let paused = 0;
  const job: Job = {
    name: 'send webhook deliveries',
    wakeOn: ({ changes }) => changes.some(({ record }) => record.kind === 'WebhookDelivery'),
    async run() {
      if (!isLoaded) {
        // Loads all workspaces, also those that another plane leads: a plane that takes them over has nothing to read.
        await eachLedWorkspace(SOLE_LEADER, services, async (workspace) => {
          for (const delivery of (await store.list(workspace, 'WebhookDelivery')).items) due.note(delivery);
        });
        isLoaded = true;
      }
      if (clock.now() < paused) return paused;
      for (const one of due.take(clock.now(), leadership.leads)) begin(one);
      const nextAt = due.nextAt(leadership.leads);
      // A due delivery that finds no room begins when another one has landed.
      return nextAt === undefined || nextAt <= clock.now() ? undefined : nextAt;
    },
  };
  return {
    job,
    pauseUntil(at: number) {
      paused = at;
    },
  };
}
