import { storeContract } from '../contract.test-suite.ts';
import { openSqliteStore } from './store.ts';
import { silentLog } from './test-log.ts';

storeContract('the SQLite store', (clock) => openSqliteStore({ path: ':memory:', clock, log: silentLog }));
