import type { ComponentType } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { Overview } from '../../api/types.ts';
import { workspaceId } from '../../api/workspace.ts';
import { linkTo, replaceAddress, route } from '../../route/route.ts';
import { SetupFrame, type StepName, stepsOf } from '../../setup.tsx';
import { say } from '../../ui/message.tsx';
import { Page } from '../../ui/page.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { ConnectAgent } from '../connect/connect-agent.tsx';
import { AddDevice } from '../join/add-device.tsx';
import { PAGE_NAMES } from '../names.ts';
import { FirstPolicy } from './first-policy.tsx';

const BODIES: Partial<Record<StepName, ComponentType>> = {
  device: AddDevice,
  policy: FirstPolicy,
  agent: ConnectAgent,
};

/** `#/<workspace>/setup/<step>`; without one, the first that is not done. */
export default function Setup() {
  const overview = useLoaded(() => {
    workspaceId.value;
    return answer(api.GET('/api/v1/overview'));
  });
  const steps = <ReadResult of={overview.value}>{(value) => <Steps overview={value} />}</ReadResult>;
  return overview.value.value ? steps : <Page title={PAGE_NAMES.setup.title}>{steps}</Page>;
}

function Steps({ overview }: { overview: Overview }) {
  const steps = stepsOf(overview);
  const [asked] = route.value.rest;
  const current = steps.find(({ name }) => name === asked && name in BODIES) ?? steps.find(({ isDone }) => !isDone);
  // It stays open once it is done: it may show a token that is shown once.
  useLayoutEffect(() => {
    if (current && current.name !== asked) replaceAddress(linkTo('setup', [current.name]));
  }, [current?.name, asked]);
  const Body = current && BODIES[current.name];
  const place = steps.findIndex(({ name }) => name === current?.name);
  const next = [...steps.slice(place + 1), ...steps.slice(0, Math.max(0, place))].find(({ isDone }) => !isDone);
  const isLast = next === undefined && current?.isDone === true;
  return (
    <SetupFrame current={current?.name} steps={steps}>
      {current && Body ? (
        <section class="stack" aria-labelledby="step">
          <h2 id="step">{current.title}</h2>
          <Body />
          <p class="row">
            <a
              class={`button ${current.isDone ? 'primary' : ''}`}
              href={next?.href ?? linkTo('home')}
              onClick={() => isLast && say('The setup is done.')}
            >
              {isLast ? 'Finish setup' : current.isDone ? 'Continue' : 'Skip this step'}
            </a>
          </p>
        </section>
      ) : (
        <p>
          {route.value.query.has('at') ? 'Go back to now to set something up.' : 'All of it is done.'}{' '}
          <a href={linkTo('home')}>Go to Home</a>
        </p>
      )}
    </SetupFrame>
  );
}
