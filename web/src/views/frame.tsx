import { useSignal } from '@preact/signals';
import { type ComponentType, render } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { answered, args, isCancelled, meetHost, openLink, opensLinks, type ToolAnswer } from './host.ts';
import '../design/tokens.css';
import '../style/base.css';
import '../style/controls.css';
import '../style/effect.css';
import './views.css';
import { Code } from '../ui/code.tsx';

const PAGES = { review: 'Review', reachability: 'Reachability', time: 'Time', ask: 'Ask' } as const;

type Fields = Readonly<Record<string, unknown>>;

/** Where in the dashboard more is said. */
export interface Place {
  readonly page: keyof typeof PAGES;
  readonly href: string;
}

export interface View<A> {
  readonly title: string;
  readonly Answer: ComponentType<{ answer: A; args: Fields }>;
  /** @param dashboard the workspace there, undefined where the answer does not say it */
  placeOf(answer: A, args: Fields, dashboard: string | undefined): Place | undefined;
}

/** Of an answer, where it is of one workspace: its address in the dashboard. */
const DASHBOARD_META_KEY = 'mesh/dashboard';

export function showView<A>(view: View<A>): void {
  render(<Frame view={view} />, document.getElementById('app') as HTMLElement);
  // A host that knows no views shows none: there is nobody to tell.
  meetHost().catch(() => undefined);
}

function Frame<A>({ view }: { view: View<A> }) {
  const answer = answered.value;
  return (
    <main class="stack" aria-labelledby="title">
      <h1 id="title" class="small dim">
        {view.title}
      </h1>
      {answer ? (
        <Shown key={answer} view={view} answer={answer} />
      ) : (
        <p class="dim" role="status">
          {isCancelled.value ? 'The call was cancelled.' : 'Waiting for the answer…'}
        </p>
      )}
    </main>
  );
}

/** What cannot be drawn is still there as the text that the model reads. */
function Shown<A>({ view, answer }: { view: View<A>; answer: ToolAnswer }) {
  const [error] = useErrorBoundary();
  if (answer.isError) {
    return (
      <div class="notice danger" role="alert">
        <span class="break">{textsOf(answer)[0]}</span>
      </div>
    );
  }
  if (error !== undefined || !answer.structuredContent) {
    return <Code look="text">{textsOf(answer).join('\n\n')}</Code>;
  }
  return <Drawn view={view} shown={answer.structuredContent as A} dashboard={answer._meta?.[DASHBOARD_META_KEY]} />;
}

interface DrawnProps<A> {
  readonly view: View<A>;
  readonly shown: A;
  readonly dashboard: unknown;
}

function Drawn<A>({ view: { Answer, placeOf }, shown, dashboard }: DrawnProps<A>) {
  const place = placeOf(shown, args.value, typeof dashboard === 'string' ? dashboard : undefined);
  return (
    <>
      <Answer answer={shown} args={args.value} />
      {place && isWeb(place.href) && (
        <footer class="stack-small">
          <Open place={place} />
        </footer>
      )}
    </>
  );
}

function textsOf({ content = [] }: ToolAnswer): string[] {
  return content.flatMap(({ text }) => text ?? []);
}

function isWeb(href: string): boolean {
  return URL.canParse(href) && /^https?:$/.test(new URL(href).protocol);
}

/** The address itself where the host opens none. */
function Open({ place: { page, href } }: { place: Place }) {
  const isRefused = useSignal(false);
  const open = () =>
    openLink(href).then(
      () => {
        isRefused.value = false;
      },
      () => {
        isRefused.value = true;
      },
    );
  return (
    <>
      {opensLinks.value && (
        <div>
          <button type="button" class="primary" onClick={open}>
            Open {PAGES[page]} in the browser
          </button>
        </div>
      )}
      {(isRefused.value || !opensLinks.value) && (
        <p class="small" role="status">
          {isRefused.value ? 'Could not open it. Address:' : 'In the browser:'} <code class="break">{href}</code>
        </p>
      )}
    </>
  );
}
