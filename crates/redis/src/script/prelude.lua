-- The part of a script's environment that is written in Lua.
--
-- It gets the tables of the interpreter and the functions of our side, and gives back the table
-- that scripts have as their globals. What scripts see is read-only: a table in front that is
-- empty, so that each write meets a metamethod, and the real one behind it.

local base, native = ...
local error, type, select, next = base.error, base.type, base.select, base.next
local rawget, rawset, getmetatable = base.rawget, base.rawset, base.getmetatable
local setmetatable = base.setmetatable
local caught, is_end = native.caught, native.is_end

local hidden = setmetatable({}, { __mode = "k" })
local READ_ONLY = "Attempt to modify a readonly table"

local function refuse()
    error(READ_ONLY, 2)
end

local function protect(real)
    local front = {}
    hidden[front] = real
    local shown = {}
    hidden[shown] = {}
    setmetatable(shown, { __newindex = refuse, __metatable = shown })
    return setmetatable(front, { __index = real, __newindex = refuse, __metatable = shown })
end

-- Copies some functions of a table.
local function pick(from, names)
    local to = {}
    for name in names:gmatch("%S+") do
        to[name] = from[name]
    end
    return to
end

local exports = pick(base, "assert error getmetatable ipairs rawequal select tonumber type "
    .. "unpack _VERSION")
exports.loadstring = native.loadstring
exports.gcinfo = function() return 32 end

function exports.load(reader, name)
    if type(reader) ~= "function" then
        error("bad argument #1 to 'load' (function expected, got " .. type(reader) .. ")", 2)
    end
    local pieces = {}
    while true do
        local piece = reader()
        if piece == nil or piece == "" then break end
        if type(piece) ~= "string" then return nil, "reader function must return a string" end
        pieces[#pieces + 1] = piece
    end
    return native.loadstring(base.table.concat(pieces), name or "=(load)")
end

local OPTIONS = { collect = 0, stop = 0, restart = 0, count = 32, step = false, setpause = 200,
    setstepmul = 200 }

function exports.collectgarbage(option)
    local answer = OPTIONS[option or "collect"]
    if answer == nil then
        error("bad argument #1 to 'collectgarbage' (invalid option '"
            .. base.tostring(option) .. "')", 2)
    end
    return answer
end

-- Errors are caught by the interpreter, but what ends the whole script goes on.

local function after_pcall(ok, problem, ...)
    if ok then return true, problem, ... end
    problem = caught(problem)
    if type(problem) == "table" then
        local text = rawget(problem, "err")
        if text ~= nil then problem = text end
    end
    return false, problem
end

function exports.pcall(...)
    if select("#", ...) == 0 then
        error("bad argument #1 to 'pcall' (value expected)", 2)
    end
    return after_pcall(base.pcall(...))
end

local function after(ok, problem, ...)
    if ok then return true, problem, ... end
    return false, caught(problem)
end

function exports.xpcall(action, handler, ...)
    return after(base.xpcall(action, function(problem)
        if is_end(problem) then return problem end
        return handler(caught(problem))
    end))
end

local coroutine = pick(base.coroutine, "create running status wrap yield")

function coroutine.resume(...)
    return after(base.coroutine.resume(...))
end

-- Tables that are read-only look like what is behind them.

function exports.rawget(t, k)
    return rawget(hidden[t] or t, k)
end

function exports.rawset(t, k, v)
    if hidden[t] then error(READ_ONLY, 0) end
    return rawset(t, k, v)
end

function exports.setmetatable(t, m)
    if hidden[t] then error(READ_ONLY, 0) end
    if type(t) ~= "table" then
        error("bad argument #1 to 'setmetatable' (table expected, got " .. type(t) .. ")", 2)
    end
    if m ~= nil and type(m) ~= "table" then
        error("bad argument #2 to 'setmetatable' (nil or table expected)", 2)
    end
    if not base.pcall(setmetatable, t, m) then
        error("cannot change a protected metatable", 2)
    end
    return t
end

-- The order of keys that are objects is that of their addresses, which no two runs share.

local function check_key(key)
    local kind = type(key)
    if kind == "table" or kind == "function" or kind == "thread" then
        error("the order of keys that are a " .. kind .. " is not defined", 3)
    end
end

function exports.next(t, k)
    if type(t) ~= "table" then
        error("bad argument #1 to 'next' (table expected, got "
            .. (t == nil and "no value" or type(t)) .. ")", 2)
    end
    local key, value = next(hidden[t] or t, k)
    check_key(key)
    return key, value
end

function exports.pairs(...)
    local t = ...
    if type(t) ~= "table" then
        local got = select("#", ...) == 0 and "no value" or type(t)
        error("bad argument #1 to 'pairs' (table expected, got " .. got .. ")", 2)
    end
    local real = hidden[t]
    if real then
        t = {}
        for k, v in next, real do t[k] = v end
    end
    for k in next, t do check_key(k) end
    return next, t, nil
end

-- An object's name is its number, since its address is another one in each run.

local names = setmetatable({}, { __mode = "k" })

function exports.tostring(...)
    local v = ...
    local kind = type(v)
    if kind ~= "table" and kind ~= "function" and kind ~= "thread" then
        if select("#", ...) == 0 then
            error("bad argument #1 to 'tostring' (value expected)", 2)
        end
        if kind == "userdata" then return "userdata: (nil)" end
        return base.tostring(v)
    end
    local meta = getmetatable(v)
    if type(meta) == "table" and rawget(meta, "__tostring") then return base.tostring(v) end
    if names[v] == nil then names[v] = native.new_name() end
    return kind .. ": 0x" .. names[v]
end

local string = pick(base.string, "byte char dump format len sub")
for name, action in next, native.string do string[name] = action end

local table = pick(base.table, "foreach foreachi getn setn")

-- Those go through the whole table, some of them changing it past its metamethods.
for _, name in next, { "concat", "insert", "maxn", "remove", "sort" } do
    table[name] = native.whole(name, base.table[name], hidden)
end

local math = pick(base.math, "abs acos asin atan2 atan ceil cos cosh deg exp floor fmod frexp huge "
    .. "ldexp log10 log max min mod modf pi pow rad sin sinh sqrt tan tanh")
math.random, math.randomseed = native.random, native.randomseed

local texts = getmetatable("")
texts.__index = string
local shown = {}
hidden[shown] = {}
texts.__metatable = setmetatable(shown, { __newindex = refuse, __metatable = shown })

local libraries = { string = string, table = table, math = math, coroutine = coroutine }
for name, library in next, native.libraries do libraries[name] = library end
for name, library in next, libraries do exports[name] = protect(library) end

local globals = protect(exports)
setmetatable(exports, { __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. base.tostring(name) .. "'",
        2)
end })
exports._G = globals
return globals, exports
