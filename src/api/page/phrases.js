// What the server says of a condition ("a version newer than 4") in Chinese. The server speaks English; what it says is made of few phrases.
// A phrase that is not here is shown as it came.

const VERSION = String.raw`(\S+) \((\w+), (\S+Z)\)`;

/** Each phrase whole, with its parts in Chinese; `of` translates a part. @type {readonly (readonly [RegExp, (part: string[], of: (text: string) => string) => string])[]} */
const PHRASES = [
  [/^(.+?)((?:; .+)+)$/s, ([first = '', rest = ''], of) => [first, ...rest.slice(2).split('; ')].map(of).join('；')],
  [/^newest is (.+?): (.+)$/s, ([version = '', why = ''], of) => `最新是 ${of(version)}：${of(why)}`],
  [/^newest is (\S+)$/, ([id]) => `最新是 ${id}`],
  [/^newest is (\S+), (which .+)$/, ([id, what = ''], of) => `最新是 ${id}，${of(what)}`],
  [/^which run (\d+) has used$/, ([run]) => `运行 ${run} 已用过`],
  [/^which was there when the group began$/, () => '本组开始时已在'],
  [
    /^no new data since (\S+?)(?:, (which .+))?$/,
    ([id, what], of) => `自 ${id}${what === undefined ? '' : `（${of(what)}）`}以来没有新数据`,
  ],
  [
    new RegExp(`^${VERSION}(?:, tag (.+))?$`),
    ([id, operation, time, tag]) => `${id}（${operation}，${time}）${tag === undefined ? '' : `，标签 ${tag}`}`,
  ],
  [
    /^(a version newer than \S+|a version|any version|the version consumed last, or any) with (.+)$/,
    ([base = '', needs = ''], of) =>
      `${of(base)}，且${needs
        .split(/, (?![^(]*\))/)
        .map(of)
        .join('、')}`,
  ],
  [
    /^(.+) for (a version newer than \S+|a version|any version)$/,
    ([need = '', base = ''], of) => `${of(base)}，且${of(need)}`,
  ],
  [/^any version$/, () => '任意版本'],
  [/^a version$/, () => '一个版本'],
  [/^no version yet$/, () => '尚无版本'],
  [/^a version newer than (\S+)$/, ([id]) => `比 ${id} 更新的版本`],
  [/^the version consumed last, or any$/, () => '上次用过的版本，或任意版本'],
  [/^version (\S+) or later$/, ([id]) => `版本 ${id} 或更新`],
  [/^before version (\S+)$/, ([id]) => `早于版本 ${id}`],
  [/^operation (.+)$/, ([operation = '']) => `操作 ${operation.replaceAll(' or ', ' 或 ')}`],
  [
    /^quality (PASSED|FAILED|UNKNOWN)(?: \((.+)\))?$/,
    ([status, checks]) => `质量 ${status}${checks === undefined ? '' : `（${checks}）`}`,
  ],
  [/^schema (.+)$/, ([what]) => `结构 ${what}`],
  [
    /^an accepted schema(?: other than (\S+))?$/,
    ([id]) => (id === undefined ? '已接受的结构' : `${id} 以外的已接受结构`),
  ],
  [/^a watermark of (\S+) or later$/, ([time]) => `水位不早于 ${time}`],
  [/^watermark (\S+)$/, ([time]) => `水位 ${time}`],
  [/^no watermark$/, () => '没有水位'],
  [/^(-?\d+) rows? added$/, ([count]) => `新增 ${count} 行`],
  [/^rows added unknown$/, () => '新增行数未知'],
  [/^(\d+) rows? fewer, net$/, ([count]) => `净减少 ${count} 行`],
  [/^an age of at most (.+)$/, ([age = '']) => `不早于 ${duration(age)}前`],
  [/^too old$/, () => '太旧'],
  [/^a tag (\S+)$/, ([tag]) => `标签 ${tag}`],
  [/^no tag$/, () => '没有标签'],
  [/^tags (.+)$/, ([tags]) => `标签 ${tags}`],
  [/^no new data$/, () => '没有新数据'],
  [/^a backfill$/, () => '回填'],
  [/^not a backfill$/, () => '不是回填'],
  [/^a backfill, which this group leaves out$/, () => '回填，本组不计'],
  [/^the table was not read yet$/, () => '表还没有读取过'],
  [/^the table cannot be read: (.+)$/s, ([why]) => `表读不到：${why}`],
  [/^the table is behind its catalog: (.+)$/s, ([why]) => `表落后于目录：${why}`],
  [
    /^the table was rolled back to (.+) and has no commit since$/,
    ([version = ''], of) => `表已回滚到 ${of(version)}，之后没有提交`,
  ],
  [/^no asset is registered under this key$/, () => '没有登记这个资产'],
  [/^the asset is held$/, () => '资产待人处理'],
  [/^a first look at the table, which tells where the group begins$/, () => '先读一次表，才知道本组从哪里开始'],
  [/^a CDC feed that does not lag$/, () => 'CDC 不落后'],
  [/^the CDC feed lags$/, () => 'CDC 落后'],
  [/^no unfinished run of this group$/, () => '本组没有未完成的运行'],
  [/^a run that this group started is unfinished$/, () => '本组启动的一个运行尚未完成'],
  [/^an enabled group$/, () => '依赖组已启用'],
  [/^the group is disabled$/, () => '依赖组已停用'],
  [/^a group that is not paused$/, () => '依赖组未暂停'],
  [/^paused; versions go on being recorded$/, () => '已暂停，版本照常记录'],
  [/^the workflow is offline$/, () => '工作流已下线'],
  [/^the project is paused$/, () => '项目已暂停'],
  [/^the workflow is offline, its project is paused$/, () => '工作流已下线，其项目已暂停'],
  [/^a workflow that may start runs$/, () => '工作流可以启动运行'],
  [/^(.+) since the last fire$/, ([time = '']) => `距上次触发 ${duration(time)}`],
  [/^it fired at (\S+)$/, ([time]) => `上次触发于 ${time}`],
  [/^(.+) without a new version$/, ([time = '']) => `${duration(time)}没有新版本`],
  [/^the newest was recorded at (\S+)$/, ([time]) => `最新版本记录于 ${time}`],
];

/** @type {Readonly<Record<string, string>>} */
const UNITS = { second: '秒', minute: '分钟', hour: '小时', day: '天' };

/** @param {string} words `2 minutes` */
const duration = (words) =>
  words.replace(/^([\d.]+) (second|minute|hour|day)s?$/, (_all, count, unit) => `${count} ${UNITS[unit]}`);

/**
 * @param {string} text
 * @returns {string | null} null: the whole is no phrase that is known
 */
export const inChinese = (text) => {
  let whole = true;
  /** @param {string} part @returns {string} */
  const of = (part) => {
    for (const [pattern, write] of ORDERED) {
      const match = pattern.exec(part);
      if (match !== null) return write(match.slice(1), of);
    }
    whole = false;
    return part;
  };
  const said = of(text);
  return whole ? said : null;
};

/** Whole phrases that hold a `;` themselves stand before the rule that takes lists of phrases apart. */
const ORDERED = [...PHRASES.filter(([pattern]) => pattern.source.startsWith('^paused;')), ...PHRASES];
