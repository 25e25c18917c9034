import { computed, signal, useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { waitingCount } from './api/waiting.ts';
import { holds, workspace } from './api/workspace.ts';
import { PAGES, titleOf } from './pages/index.tsx';
import { linkTo } from './route/route.ts';
import { texts } from './texts/texts.ts';
import { Account } from './ui/account.tsx';
import { Dialog } from './ui/dialog.tsx';

const narrow = matchMedia('(max-width: 719px)');
const isNarrow = signal(narrow.matches);
narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});

/** Those of the bar at the foot of a narrow window; the others are one step further. */
const FIRST: readonly string[] = ['home', 'review', 'peers', 'time'];

/** Every page is one of a workspace. */
const offered = computed(() =>
  workspace.value
    ? Object.entries(PAGES).filter(([, { scope, isHidden }]) => !isHidden && (!scope || holds(scope)))
    : [],
);

/** The pages that the person may see: beside the content, or at the foot of a narrow window. */
export function Side({ current }: { current: string }) {
  return isNarrow.value ? <Foot current={current} /> : <Beside current={current} />;
}

function Beside({ current }: { current: string }) {
  return (
    <nav class="side" aria-label={texts.shell.navigation}>
      <Pages current={current} />
    </nav>
  );
}

function Pages({ current, follow }: { current: string; follow?: () => void }) {
  return (
    <ul>
      {offered.value.map(([name, { group }]) => (
        <Fragment key={name}>
          {group && <li class="group">{group}</li>}
          <li>
            <PageLink name={name} current={current} follow={follow} />
          </li>
        </Fragment>
      ))}
    </ul>
  );
}

interface PageLinkProps {
  readonly name: string;
  readonly current: string;
  readonly follow?: (() => void) | undefined;
}

function PageLink({ name, current, follow }: PageLinkProps) {
  const waiting = waitingCount.value;
  return (
    <a href={linkTo(name)} aria-current={name === current ? 'page' : undefined} onClick={follow}>
      {titleOf(name)}
      {name === 'review' && waiting > 0 && <span class="tag accent">{waiting}</span>}
    </a>
  );
}

function Foot({ current }: { current: string }) {
  const isOpen = useSignal(false);
  const close = () => {
    isOpen.value = false;
  };
  const first = offered.value.filter(([name]) => FIRST.includes(name));
  return (
    <nav class="side foot" aria-label={texts.shell.navigation}>
      <ul>
        {first.map(([name]) => (
          <li key={name}>
            <PageLink name={name} current={current} />
          </li>
        ))}
        <li>
          <button
            type="button"
            class="quiet"
            aria-haspopup="dialog"
            onClick={() => {
              isOpen.value = true;
            }}
          >
            {texts.shell.more}
          </button>
        </li>
      </ul>
      {isOpen.value && (
        <Dialog title={texts.shell.more} close={close}>
          <Pages current={current} follow={close} />
          <div class="row">
            <Account />
            <button type="button" class="quiet push" onClick={close}>
              {texts.common.close}
            </button>
          </div>
        </Dialog>
      )}
    </nav>
  );
}
